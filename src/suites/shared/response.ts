import type { z } from "zod";

import { formatValue, isObject } from "../../base/json.ts";
import { is2xx } from "../../base/http.ts";
import { bodyJson, bodyText, endpointFields, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { codeIn, type ErrorForm, errorIn, errorFormIn } from "../../rules/bodies/errors.ts";
import { tokensOf, tokensOfDone } from "../../rules/streams/streams.ts";
import { type Breach, breach, type Proof } from "../../run/judge/finding.ts";

export const hasStatus = ({ answer }: Exchange, ...statuses: readonly number[]): boolean =>
  answer.kind === "answered" && statuses.includes(answer.status);

export const isSuccess = ({ answer }: Exchange): boolean => answer.kind === "answered" && is2xx(answer.status);

export const isComplete = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.ending.kind === "complete";

/** Whether an exchange shows neither acceptance nor rejection: no response, or 429. */
export const isInconclusive = (exchange: Exchange): boolean =>
  exchange.answer.kind === "unanswered" || hasStatus(exchange, 429);

export const wasRejected = (exchange: Exchange | null): exchange is Exchange =>
  exchange !== null && !isSuccess(exchange) && !isInconclusive(exchange);

export function outcomeOf({ answer }: Exchange): string {
  if (answer.kind === "unanswered") return `no response: ${answer.detail}`;
  const ending =
    answer.ending.kind === "complete" || answer.ending.kind === "closed by us" ? "" : `, ${answer.ending.detail}`;
  return `${answer.status}${ending}`;
}

export function describeStatus(exchange: Exchange): string {
  const code = codeOf(exchange);
  return code === null ? outcomeOf(exchange) : `${outcomeOf(exchange)} ${code}`;
}

export const describeVerdict = (exchange: Exchange): string =>
  isSuccess(exchange) ? "accepted" : describeStatus(exchange);

export const describeResponse = (exchange: Exchange): string =>
  isSuccess(exchange) ? `${outcomeOf(exchange)} with ${fieldNamesOf(bodyJson(exchange))}` : describeStatus(exchange);

export const fieldNamesOf = (value: unknown): string =>
  isObject(value) ? Object.keys(value).join(", ") : formatValue(value);

export function describeNonJson(exchange: Exchange): string | null {
  const text = bodyText(exchange);
  if (text === null)
    return exchange.answer.kind === "answered" ? `a body that is ${exchange.answer.body.kind}` : outcomeOf(exchange);
  return bodyJson(exchange) === undefined ? `a body that is not JSON: ${formatValue(text.slice(0, 80))}` : null;
}

/** Whether the body is not JSON. SVC-1 judges that, so other checks leave the response out. */
export const hasNonJsonBody = (exchange: Exchange): boolean =>
  exchange.answer.kind === "answered" && exchange.answer.body.kind !== "none" && describeNonJson(exchange) !== null;

export const fieldsOf = (exchange: Exchange, known: readonly string[]): unknown =>
  endpointFields(bodyJson(exchange), known);

export const reportedTokens = (exchange: Exchange): number | null =>
  exchange.answer.kind === "answered" && exchange.answer.events.length > 0
    ? tokensOfDone(exchange.answer.events)
    : tokensOf(bodyJson(exchange));

export const errorOf = (exchange: Exchange): Readonly<Record<string, unknown>> | null =>
  errorIn({ json: bodyJson(exchange) });

export const codeOf = (exchange: Exchange): string | null => codeIn({ json: bodyJson(exchange) });

/** Returns which of the document's two error forms (A or B) the body has; `null` for neither. */
export const formOf = (exchange: Exchange): ErrorForm | null =>
  errorFormIn({ status: statusOf(exchange), json: bodyJson(exchange) });

export function schemaMismatch(
  schema: z.ZodType,
  value: unknown,
  what: string,
  ...at: readonly Proof[]
): Breach | null {
  const parsed = schema.safeParse(value);
  if (parsed.success) return null;
  const [issue] = parsed.error.issues;
  if (issue === undefined) return breach(`${what} of another shape`, formatValue(value), ...at);
  const path = issue.path.map((step) => `.${String(step)}`).join("");
  const named = what.endsWith("`") ? `${what.slice(0, -1)}${path}\`` : `${what}${path}`;
  return breach(`${named}, ${expectedBy(issue)}`, formatValue(valueAt(value, issue.path)), ...at);
}

const typeNames: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "a string",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "an array",
};

function expectedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return typeNames[issue.expected] ?? issue.expected;
  if (issue.code === "invalid_value") return `one of ${issue.values.map(String).join(", ")}`;
  return issue.message;
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (current, step) =>
      typeof current === "object" && current !== null
        ? (current as Readonly<Record<PropertyKey, unknown>>)[step]
        : undefined,
    value,
  );

export function typeName(value: unknown): string {
  if (value === undefined) return "absent";
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

export const describeFields = (value: unknown): string =>
  isObject(value)
    ? Object.entries(value)
        .map(([name, each]) => `${name} (${typeName(each)})`)
        .join(", ")
    : typeName(value);
