import type { ErrorDetail, ErrorBodyInput } from "../api-error.ts";
import { isoTime } from "./health-list-usage.ts";

/** Form A: `{ error: { code, message, status } }`, and `retry_after` where a limit refused. Source: Errors, "Error bodies". */
export function formA({ code, message, status, detail }: ErrorBodyInput): object {
  return {
    error: { code, message, status, ...(detail.kind === "limit" ? { retry_after: detail.retryAfterSeconds } : {}) },
  };
}

/** Form B: `{ status: "error", error: { code, message, details } }`. Source: Errors, "Error bodies". */
export function formB({ code, message, detail }: ErrorBodyInput): object {
  return { status: "error", error: { code, message, details: detailsOf(detail) } };
}

/** Both forms at once. */
export function bothForms(facts: ErrorBodyInput): object {
  const { code, message, status, detail } = facts;
  const retry = detail.kind === "limit" ? { retry_after: detail.retryAfterSeconds } : {};
  return { status: "error", error: { code, message, status, ...retry, details: detailsOf(detail) } };
}

/** The `details` of form B. */
export function detailsOf(detail: ErrorDetail): object {
  switch (detail.kind) {
    case "none":
      return {};
    case "field":
      return { field: detail.field, reason: detail.reason };
    case "limit":
      return {
        limit: detail.limit,
        remaining: detail.remaining,
        reset_at: isoTime(detail.resetAtMs),
        retry_after: detail.retryAfterSeconds,
      };
  }
}
