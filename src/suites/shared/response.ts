import type { z } from "zod";

import { formatValue } from "../../base/format-value.ts";
import { is2xx } from "../../base/http-status.ts";
import { isObject } from "../../base/json.ts";
import { endpointFields } from "../../evidence/envelope.ts";
import { bodyJson, bodyText, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { codeIn, type ErrorForm, errorIn, formIn } from "../../rules/bodies/errors.ts";
import { tokensOf, tokensOfDone } from "../../rules/streams/streams.ts";
import { type Breach, breach, type Proof } from "../../run/judge/finding.ts";

export const hasStatus = ({ answer }: Exchange, ...statuses: readonly number[]): boolean =>
  answer.kind === "answered" && statuses.includes(answer.status);

export const isSuccess = ({ answer }: Exchange): boolean => answer.kind === "answered" && is2xx(answer.status);

/** Whether the target itself ended the response in the regular way. */
export const isComplete = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.ending.kind === "complete";

/** Whether an exchange proves nothing about the request: it got a 429 from a rate limit, or no response. */
export const isInconclusive = (exchange: Exchange): boolean =>
  exchange.answer.kind === "unanswered" || hasStatus(exchange, 429);

/** Whether the target answered a request, and neither accepted it nor limited its rate. */
export const wasRejected = (exchange: Exchange | null): exchange is Exchange =>
  exchange !== null && !isSuccess(exchange) && !isInconclusive(exchange);

/** Describes the status of a response and why it broke off, or says why there is none. */
export function outcomeOf({ answer }: Exchange): string {
  if (answer.kind === "unanswered") return `no response: ${answer.detail}`;
  const ending =
    answer.ending.kind === "complete" || answer.ending.kind === "closed by us" ? "" : `, ${answer.ending.detail}`;
  return `${answer.status}${ending}`;
}

/** Returns the status of a response and its error code, if it has one: `403 FORBIDDEN`. */
export function describeStatus(exchange: Exchange): string {
  const code = codeOf(exchange);
  return code === null ? outcomeOf(exchange) : `${outcomeOf(exchange)} ${code}`;
}

/** Returns `accepted`, or the status and code of the rejection. */
export const describeVerdict = (exchange: Exchange): string =>
  isSuccess(exchange) ? "accepted" : describeStatus(exchange);

/** Returns the status and field names of a success, or the status and code of a rejection. */
export const describeResponse = (exchange: Exchange): string =>
  isSuccess(exchange) ? `${outcomeOf(exchange)} with ${fieldNamesOf(bodyJson(exchange))}` : describeStatus(exchange);

/** Returns a text with the names of an object's fields. For any other value, returns its text. */
export const fieldNamesOf = (value: unknown): string =>
  isObject(value) ? Object.keys(value).join(", ") : formatValue(value);

/** Describes a body that is not JSON, or the reason why there is none. Returns `null` if the body is JSON. */
export function describeNonJson(exchange: Exchange): string | null {
  const text = bodyText(exchange);
  if (text === null)
    return exchange.answer.kind === "answered" ? `a body that is ${exchange.answer.body.kind}` : outcomeOf(exchange);
  return bodyJson(exchange) === undefined ? `a body that is not JSON: ${formatValue(text.slice(0, 80))}` : null;
}

/** Whether a response has a body that is not JSON. SVC-1 judges it, so checks of fields leave it out. */
export const hasNonJsonBody = (exchange: Exchange): boolean =>
  exchange.answer.kind === "answered" && exchange.answer.body.kind !== "none" && describeNonJson(exchange) !== null;

/** Returns the object with an endpoint's fields, found by some `known` names, in the body or the envelope. */
export const fieldsOf = (exchange: Exchange, known: readonly string[]): unknown =>
  endpointFields(bodyJson(exchange), known);

/** Returns the total tokens that an invoke or a stream's `done` event reports; `null` if none. */
export const reportedTokens = (exchange: Exchange): number | null =>
  exchange.answer.kind === "answered" && exchange.answer.events.length > 0
    ? tokensOfDone(exchange.answer.events)
    : tokensOf(bodyJson(exchange));

/** Returns the `error` object of an error body, in either form of the document; `null` if there is none. */
export const errorOf = (exchange: Exchange): Readonly<Record<string, unknown>> | null =>
  errorIn({ json: bodyJson(exchange) });

/** Returns the code of an error body, in either form of the document; `null` if there is none. */
export const codeOf = (exchange: Exchange): string | null => codeIn({ json: bodyJson(exchange) });

/** Returns the form of an error body, A or B; `null` if it has neither. */
export const formOf = (exchange: Exchange): ErrorForm | null =>
  formIn({ status: statusOf(exchange), json: bodyJson(exchange) });

/** Returns a breach if a value, named by `what`, does not match a schema; else `null`. */
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

/** Returns the JSON type of a value, or `absent` for `undefined`. */
export function typeName(value: unknown): string {
  if (value === undefined) return "absent";
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Returns the fields of an object with their types, such as `id (string)`, or the type of another value. */
export const describeFields = (value: unknown): string =>
  isObject(value)
    ? Object.entries(value)
        .map(([name, each]) => `${name} (${typeName(each)})`)
        .join(", ")
    : typeName(value);
