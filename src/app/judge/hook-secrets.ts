import { tryParseJson, getPath } from "../../base/json.ts";
import { once } from "../../base/memoize.ts";
import type { Evidence, ProbeEvidence } from "../../evidence/evidence.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Redactor, redactorFor, type Secret } from "../../evidence/redaction.ts";
import type { Report } from "../../report/model/report.ts";

// Whatever shows a report imports this: it loads no suite.

/** What stands in the place of a webhook's secret, and the shell variable that holds it in commands. */
export const webhookSecret = { name: "webhook secret", variable: "WEBHOOK_SECRET" } as const;

/** What was made at random, unlike a word such as `conformance`, which stands for something else in most places. */
export const looksRandom = (secret: string): boolean => secret.length >= 12 && /\d/.test(secret);

type Shown = Pick<Evidence, "exchanges" | "deliveries"> & { readonly report: Report };

/**
 * A report and its evidence as people are shown them: without the secrets that the harness gave to webhooks. They were made for
 * one run, and `evidence.json` keeps them, so that a signature can be computed again; a terminal's scrollback need not.
 */
export function withoutWebhookSecrets<T extends Shown>(shown: T): T {
  return hookRedactor(shown.exchanges).deep(shown);
}

/** The report alone of such a pair, where nothing of the evidence is shown: that is many times as long. */
export const reportWithoutWebhookSecrets = ({ report, exchanges }: Shown): Report =>
  hookRedactor(exchanges).deep(report);

/**
 * The same, where each part of the evidence is looked through when it is asked for: a page shows little of what came of the probes, which are by far the
 * longest part.
 */
export function withoutWebhookSecretsInParts(
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

const hookRedactor = (exchanges: readonly Exchange[]): Redactor => redactorFor(exchanges.flatMap(webhookSecretsIn));

/**
 * A report without them, where its evidence is not read, which takes longer.
 *
 * @param text of `evidence.json`, in which the bodies of requests are JSON within JSON
 */
export function withoutWebhookSecretsIn(report: Report, text: string): Report {
  const values = text.matchAll(/\\"secret\\":\s*\\"([^"\\]+)\\"/g).map(([, value]) => value ?? "");
  const secrets = [...new Set(values)].filter(looksRandom).map((value) => ({ name: webhookSecret.name, value }));
  return redactorFor(secrets).deep(report);
}

/** The secret that a request gave to a webhook. */
export function webhookSecretsIn({ request: { method, body } }: Exchange): Secret[] {
  const isCandidate = method === "POST" && body.kind === "text" && body.text.includes('"secret"');
  const secret = isCandidate ? getPath(tryParseJson(body.text), "secret") : undefined;
  return typeof secret === "string" && looksRandom(secret) ? [{ name: webhookSecret.name, value: secret }] : [];
}
