import { tryParseJson, getPath } from "../../base/json.ts";
import { once } from "../../base/memoize.ts";
import type { Evidence, ProbeEvidence } from "../../evidence/evidence.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Redactor, redactorFor, type Secret } from "../../evidence/redaction.ts";
import type { Report } from "../../report/model/report.ts";
import type { Target } from "../../target/target.ts";

// This file must not import the suites, which load slowly: commands that only show a report import this file.

/** Placeholders for a webhook secret: `name` in redacted texts, `variable` in printed commands. */
export const webhookSecretNames = { name: "webhook secret", variable: "WEBHOOK_SECRET" } as const;

/** Whether a secret looks random, and so is safe to redact. Redacting a common word would damage unrelated texts. */
export const looksRandom = (secret: string): boolean => secret.length >= 12 && /\d/.test(secret);

type ReportWithEvidence = Pick<Evidence, "exchanges" | "deliveries"> & { readonly report: Report };

/**
 * Returns a copy of report and evidence without webhook secrets, to show to users. The saved files `report.json` and
 * `evidence.json` keep them, because checking signatures needs them.
 */
export function withoutWebhookSecrets<T extends ReportWithEvidence>(document: T): T {
  return webhookSecretRedactor(document.exchanges).deep(document);
}

/** Does the same as `withoutWebhookSecrets`, but copies each part of the evidence only when it is first read. */
export function withoutWebhookSecretsLazily(
  report: Report,
  { exchanges, deliveries, probes }: Evidence,
): { readonly report: Report; readonly evidence: Evidence } {
  const { deep } = webhookSecretRedactor(exchanges);
  const [redactedExchanges, redactedDeliveries] = [once(() => deep(exchanges)), once(() => deep(deliveries))];
  const evidence = {
    get exchanges() {
      return redactedExchanges();
    },
    get deliveries() {
      return redactedDeliveries();
    },
    probes: probes.map((each) => withoutSecretsOnRead(each, deep)),
  };
  return { report: deep(report), evidence };
}

function withoutSecretsOnRead({ probe, instance, result }: ProbeEvidence, deep: Redactor["deep"]): ProbeEvidence {
  const redactedResult = once(() => deep(result));
  return {
    ...deep({ probe, instance }),
    get result() {
      return redactedResult();
    },
  };
}

const webhookSecretRedactor = (exchanges: readonly Exchange[]): Redactor =>
  redactorFor(exchanges.flatMap(webhookSecretsIn));

/**
 * Removes webhook secrets from a report. Finds the secrets by a search in the text of `evidence.json`, which is faster
 * than parsing the file.
 */
export function redactWebhookSecretsByText(report: Report, text: string): Report {
  const values = text.matchAll(/\\"secret\\":\s*\\"([^"\\]+)\\"/g).map(([, value]) => value ?? "");
  const secrets = [...new Set(values)].filter(looksRandom).map((value) => ({ name: webhookSecretNames.name, value }));
  return redactorFor(secrets).deep(report);
}

export function webhookSecretsIn({ request: { method, body } }: Exchange): Secret[] {
  const isCandidate = method === "POST" && body.kind === "text" && body.text.includes('"secret"');
  const secret = isCandidate ? getPath(tryParseJson(body.text), "secret") : undefined;
  return typeof secret === "string" && looksRandom(secret) ? [{ name: webhookSecretNames.name, value: secret }] : [];
}

export const secretsOf = (target: Target): Secret[] => [
  // A server that requires no keys has an empty `key`, which must not be redacted.
  ...Object.values(target.keys).flatMap(({ name, key }) => (key === "" ? [] : [{ name, value: key }])),
  ...Object.values(target.keys).flatMap(({ signingSecret }) =>
    signingSecret === null ? [] : [{ name: "signing secret", value: signingSecret }],
  ),
  ...(target.signing === null ? [] : [{ name: "signing secret", value: target.signing.secret }]),
  ...target.callSecrets.map((value) => ({ name: "test control", value })),
];
