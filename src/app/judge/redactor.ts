import { type Redactor, redactorFor, type Secret } from "../../evidence/redaction.ts";
import { parseBoundedJson } from "../../base/shallow-json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { webhookSecretsIn, looksRandom } from "./hook-secrets.ts";
import { isHarnessText } from "./own-words.ts";

/** Takes secrets out of everything but the words that the harness itself writes into every report. */
export const redactorOf = (secrets: readonly Secret[]): Redactor => redactorFor(secrets, isHarnessText);

/**
 * Secrets that a target made during the run and told in an answer: a webhook's signing secret of its own, a key. What the harness itself had
 * sent is none of them.
 */
export function secretsInResponses(exchanges: readonly Exchange[]): Secret[] {
  const own = new Set(exchanges.flatMap(webhookSecretsIn).map(({ value }) => value));
  const told = exchanges.flatMap(({ answer }) =>
    answer.kind === "answered" && answer.body.kind === "text" && secretField.test(answer.body.text)
      ? secretsWithin(parseBoundedJson(answer.body.text), mostDepth)
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
