import { tryParseJson, getPath } from "../../base/json.ts";
import { once } from "../../base/memoize.ts";
import type { Evidence, ProbeEvidence } from "../../evidence/evidence.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Redactor, redactorFor, type Secret } from "../../evidence/redaction.ts";
import type { Report } from "../../report/model/report.ts";
import type { Target } from "../../target/target.ts";

// This module must not load the suites, because commands that only show reports import it.

/** The name that replaces a webhook's secret in redacted texts, and the shell variable that stands for it in commands. */
export const webhookSecret = { name: "webhook secret", variable: "WEBHOOK_SECRET" } as const;

/** Whether a secret looks random. Other secrets are not redacted, because a common word would then disappear from unrelated texts. */
export const looksRandom = (secret: string): boolean => secret.length >= 12 && /\d/.test(secret);

type ReportWithEvidence = Pick<Evidence, "exchanges" | "deliveries"> & { readonly report: Report };

/**
 * Removes webhook secrets from a report and its evidence before they are shown. `evidence.json` keeps the secrets, so that signatures can
 * be checked again.
 */
export function withoutWebhookSecrets<T extends ReportWithEvidence>(document: T): T {
  return hookRedactor(document.exchanges).deep(document);
}

/**
 * Removes webhook secrets from a report and its evidence. Redacts each part of the evidence only when it is read: the results of probes are
 * the longest part, and are rarely shown.
 */
export function withoutWebhookSecretsInParts(
  report: Report,
  { exchanges, deliveries, probes }: Evidence,
): { readonly report: Report; readonly evidence: Evidence } {
  const { deep } = hookRedactor(exchanges);
  const [redactedExchanges, redactedDeliveries] = [once(() => deep(exchanges)), once(() => deep(deliveries))];
  const evidence = {
    get exchanges() {
      return redactedExchanges();
    },
    get deliveries() {
      return redactedDeliveries();
    },
    probes: probes.map((each) => probeWithout(each, deep)),
  };
  return { report: deep(report), evidence };
}

function probeWithout({ probe, instance, result }: ProbeEvidence, deep: Redactor["deep"]): ProbeEvidence {
  const redactedResult = once(() => deep(result));
  return {
    ...deep({ probe, instance }),
    get result() {
      return redactedResult();
    },
  };
}

const hookRedactor = (exchanges: readonly Exchange[]): Redactor => redactorFor(exchanges.flatMap(webhookSecretsIn));

/**
 * Removes webhook secrets from a report. Searches the text of the evidence for the secrets, because parsing the evidence would take longer.
 *
 * @param text content of `evidence.json`, where request bodies are JSON inside JSON strings
 */
export function withoutWebhookSecretsIn(report: Report, text: string): Report {
  const values = text.matchAll(/\\"secret\\":\s*\\"([^"\\]+)\\"/g).map(([, value]) => value ?? "");
  const secrets = [...new Set(values)].filter(looksRandom).map((value) => ({ name: webhookSecret.name, value }));
  return redactorFor(secrets).deep(report);
}

/** Returns the webhook secret that a request set. The list is empty if the request set none. */
export function webhookSecretsIn({ request: { method, body } }: Exchange): Secret[] {
  const isCandidate = method === "POST" && body.kind === "text" && body.text.includes('"secret"');
  const secret = isCandidate ? getPath(tryParseJson(body.text), "secret") : undefined;
  return typeof secret === "string" && looksRandom(secret) ? [{ name: webhookSecret.name, value: secret }] : [];
}

/** Returns the secrets of a target, which must never leave the process. In redacted texts, a secret's `name` replaces its value. */
export const secretsOf = (target: Target): Secret[] => [
  ...Object.values(target.keys).map(({ name, key }) => ({ name, value: key })),
  ...Object.values(target.keys).flatMap(({ signingSecret }) =>
    signingSecret === null ? [] : [{ name: "signing secret", value: signingSecret }],
  ),
  ...(target.signing === null ? [] : [{ name: "signing secret", value: target.signing.secret }]),
  ...target.callSecrets.map((value) => ({ name: "test control", value })),
];
