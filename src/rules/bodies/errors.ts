import { formatValue, getPath, isObject } from "../../base/json.ts";
import { errorCodes, rateLimitCodes } from "../../spec/events-and-errors.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package: k6 has none of them.

/** A response: its status, and the JSON value of its body (`undefined` if the body is not JSON). */
export interface ErrorResponse {
  readonly status: number | null;
  readonly json: unknown;
}

/**
 * The form of an error body.
 *
 * - `form-a`: `{error: {code, message, status}}`
 * - `form-b`: `{status: "error", error: {code, message, details}}`
 * - `both`: a body with the fields of both forms
 */
export type ErrorForm = "form-a" | "form-b" | "both";

export function errorIn({ json }: Pick<ErrorResponse, "json">): Readonly<Record<string, unknown>> | null {
  const error = isObject(json) ? json["error"] : null;
  return isObject(error) ? error : null;
}

export function codeIn(response: Pick<ErrorResponse, "json">): string | null {
  const code = errorIn(response)?.["code"];
  return typeof code === "string" ? code : null;
}

export function errorFormIn(response: ErrorResponse): ErrorForm | null {
  const error = errorIn(response);
  if (error === null) return null;
  if (isObject(response.json) && response.json["status"] === "error")
    return error["status"] === response.status ? "both" : "form-b";
  return error["status"] === undefined ? null : "form-a";
}

const describedForms = '`{error: {code, message, status}}` or `{status: "error", error: {code, message, details}}`';

/** Judges ERR-2, ERR-3 and ERR-4: an error body has form A or form B. */
export const formMismatch = (response: ErrorResponse): Mismatch | null =>
  errorFormIn(response) === null
    ? {
        expected: describedForms,
        actual: `${response.status} with ${response.json === undefined ? "no body" : formatValue(response.json)}`,
      }
    : null;

/** Judges ERR-5: an error has a code and a message. */
export function codeOrMessageMismatch(response: ErrorResponse): Mismatch | null {
  const error = errorIn(response);
  for (const name of ["code", "message"] as const) {
    const value = error?.[name];
    if (typeof value !== "string" || value.trim() === "")
      return { expected: `\`error.${name}\`, a string that is not empty`, actual: formatValue(value) };
  }
  return null;
}

/** Judges ERR-6: in form A, `{error: {code, message, status}}`, `status` is the HTTP status. */
export function statusMismatch(response: ErrorResponse): Mismatch | null {
  const status = errorIn(response)?.["status"];
  return status === response.status
    ? null
    : { expected: `\`error.status\` is ${response.status}, the HTTP status`, actual: formatValue(status) };
}

/** Judges ERR-7: in error form B, `error.details` is an object, `null` or absent. */
export function detailsMismatch(response: ErrorResponse): Mismatch | null {
  const details = errorIn(response)?.["details"];
  return details === undefined || details === null || isObject(details)
    ? null
    : { expected: "`error.details`, an object", actual: formatValue(details) };
}

const isSeconds = (value: unknown): boolean => typeof value === "number" && value >= 0;
const isCount = (value: unknown): boolean => typeof value === "number" && Number.isInteger(value);

const limitDetails = {
  limit: isCount,
  remaining: isCount,
  // Demands only that the field exists. ERR-16 judges its format.
  reset_at: (value: unknown) => value !== undefined,
  retry_after: isSeconds,
} as const;
const limitDetailNames = Object.keys(limitDetails) as readonly (keyof typeof limitDetails)[];

/** Judges ERR-8: the body of a 429 says when to retry. The required fields depend on the error form. */
export function retryAfterMismatch(response: ErrorResponse): Mismatch | null {
  const form = errorFormIn(response);
  const inError = errorIn(response)?.["retry_after"];
  if (form === "form-a" || (form === "both" && isSeconds(inError)))
    return isSeconds(inError)
      ? null
      : { expected: "`error.retry_after`, a number of seconds", actual: formatValue(inError) };
  const details = errorIn(response)?.["details"];
  const wrong = limitDetailNames.find((name) => !limitDetails[name](getPath(details, name)));
  if (wrong === undefined) return null;
  return {
    expected: "`error.details` with the numbers `limit`, `remaining` and `retry_after`, and `reset_at`",
    actual: `\`${wrong}\` is ${formatValue(getPath(details, wrong))}`,
  };
}

/** Judges ERR-9: a 429 has one of the two rate-limit codes. Returns `undefined` if the body has no code. */
export function limitCodeMismatch(response: ErrorResponse): Mismatch | null | undefined {
  const code = codeIn(response);
  if (code === null) return undefined;
  return rateLimitCodes.some((each) => each === code)
    ? null
    : { expected: rateLimitCodes.join(" or "), actual: formatValue(code) };
}

export function documentedStatus(code: string | null): number | null {
  if (code === null || !Object.hasOwn(errorCodes, code)) return null;
  const { status } = errorCodes[code as keyof typeof errorCodes];
  return typeof status === "number" ? status : null;
}

/**
 * Judges ERR-10: a response has the documented status of its error code. Returns `undefined` if the body has
 * no code, or a code without documented status.
 */
export function codeStatusMismatch(response: ErrorResponse): Mismatch | null | undefined {
  const code = codeIn(response);
  const status = documentedStatus(code);
  if (status === null) return undefined;
  return status === response.status
    ? null
    : { expected: `${status} with the code ${code}`, actual: String(response.status) };
}

export interface Mismatch {
  readonly expected: string;
  readonly actual: string;
}
