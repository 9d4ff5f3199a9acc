import { type Redactor, redactorFor, type Secret } from "../../evidence/redaction.ts";
import { jsonIn, member } from "../../base/json.ts";
import { once } from "../../base/once-per.ts";
import { shallowJsonIn } from "../../base/shallow-json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Evidence, ProbeEvidence } from "../../evidence/evidence.ts";
import type { Report } from "../../report/report.ts";
import { isOwnText } from "./own-words.ts";

/** Takes secrets out of everything but the words that the harness itself writes into every report. */
export const redactorOf = (secrets: readonly Secret[]): Redactor => redactorFor(secrets, isOwnText);

/**
 * Secrets that a target made during the run and told in an answer: a webhook's signing secret of its own, a key. What the harness itself had
 * sent is none of them.
 */
export function toldSecrets(exchanges: readonly Exchange[]): Secret[] {
  const own = new Set(exchanges.flatMap(secretsIn).map(({ value }) => value));
  const told = exchanges.flatMap(({ answer }) =>
    answer.kind === "answered" && answer.body.kind === "text" && secretField.test(answer.body.text)
      ? secretsWithin(shallowJsonIn(answer.body.text), mostDepth)
      : [],
  );
  return [...new Set(told)]
    .filter((value) => !own.has(value))
    .map((value) => ({ name: "secret of the target", value }));
}

const secretNames = ["secret", "signing_secret", "webhook_secret", "api_key", "apiKey", "access_token"] as const;
const secretField = new RegExp(`"(?:${secretNames.join("|")})"`);
/** Answers are a few levels deep, whatever a hostile one sends. */
const mostDepth = 8;

function secretsWithin(value: unknown, depth: number): string[] {
  if (typeof value !== "object" || value === null || depth === 0) return [];
  return Object.entries(value).flatMap(([name, each]: [string, unknown]) =>
    typeof each === "string" && secretNames.some((known) => known === name) && looksRandom(each)
      ? [each]
      : secretsWithin(each, depth - 1),
  );
}

/** What stands in the place of a webhook's secret, and the shell variable that holds it in commands. */
export const hookSecret = { name: "webhook secret", variable: "WEBHOOK_SECRET" } as const;

/** What was made at random, unlike a word such as `conformance`, which stands for something else in most places. */
const looksRandom = (secret: string): boolean => secret.length >= 12 && /\d/.test(secret);

type Shown = Pick<Evidence, "exchanges" | "deliveries"> & { readonly report: Report };

/**
 * A report and its evidence as people are shown them: without the secrets that the harness gave to webhooks. They were made for
 * one run, and `evidence.json` keeps them, so that a signature can be computed again; a terminal's scrollback need not.
 */
export function withoutHookSecrets<T extends Shown>(shown: T): T {
  return hookRedactor(shown.exchanges).deep(shown);
}

/** The report alone of such a pair, where nothing of the evidence is shown: that is many times as long. */
export const reportWithoutHookSecrets = ({ report, exchanges }: Shown): Report => hookRedactor(exchanges).deep(report);

/**
 * The same, where each part of the evidence is looked through when it is asked for: a page shows little of what came of the probes, which are by far the
 * longest part.
 */
export function withoutHookSecretsInParts(
  report: Report,
  { exchanges, deliveries, probes }: Evidence,
): { readonly report: Report; readonly evidence: Evidence } {
  const { deep } = hookRedactor(exchanges);
  const [shownExchanges, shownDeliveries] = [once(() => deep(exchanges)), once(() => deep(deliveries))];
  const evidence = {
    get exchanges() {
      return shownExchanges();
    },
    get deliveries() {
      return shownDeliveries();
    },
    probes: probes.map((each) => probeWithout(each, deep)),
  };
  return { report: deep(report), evidence };
}

function probeWithout({ probe, instance, result }: ProbeEvidence, deep: Redactor["deep"]): ProbeEvidence {
  const shownResult = once(() => deep(result));
  return {
    ...deep({ probe, instance }),
    get result() {
      return shownResult();
    },
  };
}

const hookRedactor = (exchanges: readonly Exchange[]): Redactor => redactorFor(exchanges.flatMap(secretsIn));

/**
 * A report without them, where its evidence is not read, which takes longer.
 *
 * @param text of `evidence.json`, in which the bodies of requests are JSON within JSON
 */
export function withoutHookSecretsOf(report: Report, text: string): Report {
  const values = text.matchAll(/\\"secret\\":\s*\\"([^"\\]+)\\"/g).map(([, value]) => value ?? "");
  const secrets = [...new Set(values)].filter(looksRandom).map((value) => ({ name: hookSecret.name, value }));
  return redactorFor(secrets).deep(report);
}

function secretsIn({ request: { method, body } }: Exchange): Secret[] {
  const isCandidate = method === "POST" && body.kind === "text" && body.text.includes('"secret"');
  const secret = isCandidate ? member(jsonIn(body.text), "secret") : undefined;
  return typeof secret === "string" && looksRandom(secret) ? [{ name: hookSecret.name, value: secret }] : [];
}
