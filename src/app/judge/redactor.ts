import { parseBoundedJson } from "../../base/parsing.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Redactor, redactorFor, type Secret } from "../../evidence/redaction.ts";
import { probesOf } from "../../run/judge/check.ts";
import { cutOffMark, partMark } from "../../evidence/secret.ts";
import { clauses } from "../../spec/clauses.ts";
import { publishedEndpoints } from "../../spec/endpoints.ts";
import { headerNames } from "../../spec/headers.ts";
import { allSuites } from "../../suites/all.ts";
import { alteredAuthorizations, alteredKeyKinds } from "../../suites/shared/key-requests/altered-keys.ts";
import { webhookSecretsIn, looksRandom } from "./secrets.ts";

/** Creates a redactor that also recognizes altered keys, such as a key without its last character. */
export const redactorWithAlteredKeys = (secrets: readonly Secret[]): Redactor =>
  redactorFor([...secrets, ...secrets.flatMap(alteredKeysOf)], isHarnessText);

/**
 * The redactor recognizes an altered form of a key of at least this length by the characters that both share. For a
 * shorter key, each altered form of 4 or more characters is added to the list of secrets.
 */
const minRecognizedLength = 16;
const minAlteredLength = 4;

function alteredKeysOf({ name, value }: Secret): Secret[] {
  if (value.length >= minRecognizedLength) return [];
  const forms = alteredKeyKinds.flatMap((kind) => alteredAuthorizations[kind](value)?.split(" ").slice(1) ?? []);
  return [...new Set(forms)]
    .filter((form) => form !== value && form.length >= minAlteredLength && !isHarnessText(form.toLowerCase()))
    .map((form) => ({ name: name + (form === value.slice(0, -1) ? cutOffMark : partMark), value: form }));
}

/** Finds secrets in responses, such as new API keys. Leaves out secrets of webhooks that the harness created. */
export function secretsInResponses(exchanges: readonly Exchange[]): Secret[] {
  const own = new Set(exchanges.flatMap(webhookSecretsIn).map(({ value }) => value));
  const found = exchanges.flatMap(({ answer }) =>
    answer.kind === "answered" && answer.body.kind === "text" && secretField.test(answer.body.text)
      ? secretsWithin(parseBoundedJson(answer.body.text), maxSearchDepth)
      : [],
  );
  return [...new Set(found)]
    .filter((value) => !own.has(value))
    .map((value) => ({ name: "secret of the target", value }));
}

const secretNames = ["secret", "signing_secret", "webhook_secret", "api_key", "apiKey", "access_token"] as const;
const secretField = new RegExp(`"(?:${secretNames.join("|")})"`);
/** Maximum depth to search in a response's JSON. A hostile response may have millions of levels. */
const maxSearchDepth = 8;

function secretsWithin(value: unknown, depth: number): string[] {
  if (typeof value !== "object" || value === null || depth === 0) return [];
  return Object.entries(value).flatMap(([name, each]: [string, unknown]) =>
    typeof each === "string" && secretNames.some((known) => known === name) && looksRandom(each)
      ? [each]
      : secretsWithin(each, depth - 1),
  );
}

/**
 * Whether the harness's own texts, such as clauses, contain `text`. If so, redacting `text` would make reports
 * unreadable.
 */
function isHarnessText(text: string): boolean {
  cachedHarnessText ??= harnessText();
  return cachedHarnessText.includes(text);
}

let cachedHarnessText: string | null = null;

function harnessText(): string {
  const checks = allSuites.flatMap((suite) => suite.checks);
  const texts = [
    "agent-hosting-conformance/report/1 agent-hosting-conformance/evidence/1 embedded reference server",
    "closed by us unanswered unreachable nonconformant incomplete application/json text/event-stream authorization",
    "durationms fingerprint unselected untestable computedsignature receivedms clockatmostms deliveries",
    JSON.stringify([clauses, publishedEndpoints, headerNames]),
    ...allSuites.map(({ title }) => title),
    ...checks.flatMap((check) => [...Object.values(probesOf(check.on)), ...check.also].map(({ name }) => name)),
  ];
  return texts.join("\n").toLowerCase();
}
