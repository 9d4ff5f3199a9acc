import { isObject, getPath } from "../../base/json.ts";
import { formatValue } from "../../base/format-value.ts";
import type { Mismatch } from "../mismatch.ts";
import { errorCodes, rateLimitCodes } from "../../spec/errors.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package.

/** The status of a response, and the JSON value of its body (`undefined` if the body is not JSON). */
export interface ErrorResponse {
  readonly status: number | null;
  readonly json: unknown;
}

/** Which of the document's two error forms (A or B) a body has. `both`: it has the fields of both. */
export type ErrorForm = "form-a" | "form-b" | "both";

/** Returns the `error` object of an error body, in either form; `null` if there is none. */
export function errorIn({ json }: Pick<ErrorResponse, "json">): Readonly<Record<string, unknown>> | null {
  const error = isObject(json) ? json["error"] : null;
  return isObject(error) ? error : null;
}

/** Returns the error code of a body in form A or form B; `null` if there is none. */
export function codeIn(answer: Pick<ErrorResponse, "json">): string | null {
  const code = errorIn(answer)?.["code"];
  return typeof code === "string" ? code : null;
}

/**
 * Returns the form of an error body, or `null` if the body has neither form. The field `status: "error"` at the top
 * marks form B. A field `status` inside `error` marks form A, whatever its value, which ERR-6 judges.
 */
export function formIn(answer: ErrorResponse): ErrorForm | null {
  const error = errorIn(answer);
  if (error === null) return null;
  if (isObject(answer.json) && answer.json["status"] === "error")
    return error["status"] === answer.status ? "both" : "form-b";
  return error["status"] === undefined ? null : "form-a";
}

const forms = '`{error: {code, message, status}}` or `{status: "error", error: {code, message, details}}`';

/** Judges ERR-2, ERR-3 and ERR-4: an error body has form A or form B. */
export const formMismatch = (answer: ErrorResponse): Mismatch | null =>
  formIn(answer) === null
    ? {
        expected: forms,
        actual: `${answer.status} with ${answer.json === undefined ? "no body" : formatValue(answer.json)}`,
      }
    : null;

/** Judges ERR-5: an error has a code and a message. */
export function textMismatch(answer: ErrorResponse): Mismatch | null {
  const error = errorIn(answer);
  for (const name of ["code", "message"] as const) {
    const value = error?.[name];
    if (typeof value !== "string" || value.trim() === "")
      return { expected: `\`error.${name}\`, a string that is not empty`, actual: formatValue(value) };
  }
  return null;
}

/** Judges ERR-6: in form A, `error.status` is the HTTP status. */
export function statusMismatch(answer: ErrorResponse): Mismatch | null {
  const status = errorIn(answer)?.["status"];
  return status === answer.status
    ? null
    : { expected: `\`error.status\` is ${answer.status}, the HTTP status`, actual: formatValue(status) };
}

/** Judges ERR-7: in form B, `error.details` is an object, if it is present. */
export function detailsMismatch(answer: ErrorResponse): Mismatch | null {
  const details = errorIn(answer)?.["details"];
  return details === undefined || details === null || isObject(details)
    ? null
    : { expected: "`error.details`, an object", actual: formatValue(details) };
}

const isSeconds = (value: unknown): boolean => typeof value === "number" && value >= 0;
const isCount = (value: unknown): boolean => typeof value === "number" && Number.isInteger(value);

const limitDetails = {
  limit: isCount,
  remaining: isCount,
  // Any value passes here: the clause ERR-16 judges the format of `reset_at`.
  reset_at: (value: unknown) => value !== undefined,
  retry_after: isSeconds,
} as const;
const limitDetailNames = Object.keys(limitDetails) as readonly (keyof typeof limitDetails)[];

/** Judges ERR-8: a 429 says when to try again, in the fields of form A or form B, whichever the body has. */
export function retryAfterMismatch(answer: ErrorResponse): Mismatch | null {
  const form = formIn(answer);
  const inError = errorIn(answer)?.["retry_after"];
  if (form === "form-a" || (form === "both" && isSeconds(inError)))
    return isSeconds(inError)
      ? null
      : { expected: "`error.retry_after`, a number of seconds", actual: formatValue(inError) };
  const details = errorIn(answer)?.["details"];
  const wrong = limitDetailNames.find((name) => !limitDetails[name](getPath(details, name)));
  if (wrong === undefined) return null;
  return {
    expected: "`error.details` with the numbers `limit`, `remaining` and `retry_after`, and `reset_at`",
    actual: `\`${wrong}\` is ${formatValue(getPath(details, wrong))}`,
  };
}

/** Judges ERR-9: a 429 has one of the two rate-limit codes. Returns `undefined` if the body has no code. */
export function limitCodeMismatch(answer: ErrorResponse): Mismatch | null | undefined {
  const code = codeIn(answer);
  if (code === null) return undefined;
  return rateLimitCodes.some((each) => each === code)
    ? null
    : { expected: rateLimitCodes.join(" or "), actual: formatValue(code) };
}

/**
 * Returns the HTTP status that the document's table gives to an error code. Returns `null` for an unknown code, and for
 * codes of streams and webhooks, which have no status.
 */
export function documentedStatus(code: string | null): number | null {
  if (code === null || !Object.hasOwn(errorCodes, code)) return null;
  const { status } = errorCodes[code as keyof typeof errorCodes];
  return typeof status === "number" ? status : null;
}

/**
 * Judges ERR-10: a response has the status that the document's table gives to its error code. Returns `undefined` if
 * the table gives that code no status.
 */
export function codeStatusMismatch(answer: ErrorResponse): Mismatch | null | undefined {
  const code = codeIn(answer);
  const status = documentedStatus(code);
  if (status === null) return undefined;
  return status === answer.status
    ? null
    : { expected: `${status} with the code ${code}`, actual: String(answer.status) };
}
