import type { z } from "zod";

import { is2xx } from "../../base/http-status.ts";
import { endpointFields } from "../../evidence/envelope.ts";
import { bodyJson, bodyText, type Exchange } from "../../evidence/exchange.ts";
import { type Breach, breach, type Proof } from "../../run/judge/finding.ts";
import { formatValue } from "../../base/format-value.ts";

export { getPath as member } from "../../base/json.ts";
export { formatValue as show } from "../../base/format-value.ts";

/** What an exchange came to, in a few words: its status, or why there was none. */
export function outcomeOf({ answer }: Exchange): string {
  if (answer.kind === "unanswered") return `no answer: ${answer.detail}`;
  const ending =
    answer.ending.kind === "complete" || answer.ending.kind === "closed by us" ? "" : `, ${answer.ending.detail}`;
  return `${answer.status}${ending}`;
}

export const hasStatus = ({ answer }: Exchange, ...statuses: readonly number[]): boolean =>
  answer.kind === "answered" && statuses.includes(answer.status);

export const isSuccess = ({ answer }: Exchange): boolean => answer.kind === "answered" && is2xx(answer.status);

/** Whether an answer's body is JSON; says what it is instead. */
export function describeNonJson(exchange: Exchange): string | null {
  const text = bodyText(exchange);
  if (text === null)
    return exchange.answer.kind === "answered" ? `a body that is ${exchange.answer.body.kind}` : outcomeOf(exchange);
  return bodyJson(exchange) === undefined ? `a body that is not JSON: ${formatValue(text.slice(0, 80))}` : null;
}

/** The fields of an endpoint's answer in either published shape, told by those that are its own. */
export const fieldsOf = (exchange: Exchange, known: readonly string[]): unknown =>
  endpointFields(bodyJson(exchange), known);

/** A breach where a value does not have a shape; `null` where it has. `what` names the value: "`usage`". */
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
  const path = issue.path.map((step) => `../answers${String(step)}`).join("");
  const named = what.endsWith("`") ? `${what.slice(0, -1)}${path}\`` : `${what}${path}`;
  return breach(`${named}, ${wantedBy(issue)}`, formatValue(memberAt(value, issue.path)), ...at);
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

/** What an issue asks for, in the words of a person. */
function wantedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return typeNames[issue.expected] ?? issue.expected;
  if (issue.code === "invalid_value") return `one of ${issue.values.map(String).join(", ")}`;
  return issue.message;
}

function memberAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const step of path)
    current =
      typeof current === "object" && current !== null
        ? (current as Readonly<Record<PropertyKey, unknown>>)[step]
        : undefined;
  return current;
}

/** Whether an answer has a body that is not JSON. That is a clause of its own (SVC-1), on which the fields' clauses build. */
export const hasNonJsonBody = (exchange: Exchange): boolean =>
  exchange.answer.kind === "answered" && exchange.answer.body.kind !== "none" && describeNonJson(exchange) !== null;

/** A value's JSON type, as people call it. */
export function typeName(value: unknown): string {
  if (value === undefined) return "absent";
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
