import type { Endpoint } from "../endpoint.ts";
import { isoTime } from "../json-edit.ts";

interface StatusAndCode {
  readonly status: number;
  readonly code: string;
}

const badInput: StatusAndCode = { status: 400, code: "INVALID_INPUT" };
const badKey: StatusAndCode = { status: 401, code: "INVALID_API_KEY" };
const tooMany: StatusAndCode = { status: 429, code: "RATE_LIMIT_EXCEEDED" };
const notFound: StatusAndCode = { status: 404, code: "NOT_FOUND" };

const statusAndCodeByCause = {
  "missing-key": badKey,
  "malformed-key": badKey,
  "wrong-key": badKey,
  "expired-key": { status: 401, code: "EXPIRED_API_KEY" },
  forbidden: { status: 403, code: "FORBIDDEN" },
  "bad-signature": { status: 401, code: "INVALID_SIGNATURE" },
  "missing-field": { status: 400, code: "MISSING_REQUIRED_FIELD" },
  "invalid-input": badInput,
  "malformed-json": badInput,
  "content-type": badInput,
  "malformed-http": badInput,
  "too-large": { status: 413, code: "REQUEST_TOO_LARGE" },
  "not-acceptable": { status: 406, code: "NOT_ACCEPTABLE" },
  "agent-not-found": { status: 404, code: "AGENT_NOT_FOUND" },
  "webhook-not-found": { status: 404, code: "WEBHOOK_NOT_FOUND" },
  "operation-not-found": { status: 404, code: "OPERATION_NOT_FOUND" },
  "entrypoint-not-found": { status: 404, code: "ENTRYPOINT_NOT_FOUND" },
  "unknown-path": notFound,
  "unknown-method": notFound,
  "request-limit": tooMany,
  "concurrency-limit": tooMany,
  "token-quota": tooMany,
  "address-limit": { status: 429, code: "RATE_LIMITED" },
  crash: { status: 500, code: "INTERNAL_ERROR" },
  timeout: { status: 500, code: "AGENT_TIMEOUT" },
} as const satisfies Record<string, StatusAndCode>;

/** Cause of an error response. Each cause has a status and an error code. */
export type ErrorCause = keyof typeof statusAndCodeByCause;

/** The details in an error body, such as the invalid field. Source: Errors, "Error bodies". */
type ErrorDetail =
  | { readonly kind: "none" }
  | { readonly kind: "field"; readonly field: string; readonly reason: string }
  | {
      readonly kind: "limit";
      readonly limit: number;
      readonly remaining: number;
      readonly resetAtMs: number;
      readonly retryAfterSeconds: number;
    };

export interface ApiError {
  readonly cause: ErrorCause;
  readonly message: string;
  readonly detail: ErrorDetail;
}

export function apiError(cause: ErrorCause, message: string, detail: ErrorDetail = { kind: "none" }): ApiError {
  return { cause, message, detail };
}

export function fieldError(cause: ErrorCause, field: string, reason: string): ApiError {
  return apiError(cause, `Field "${field}": ${reason}.`, { kind: "field", field, reason });
}

export interface ErrorBodyInput extends ApiError {
  readonly endpoint: Endpoint;
  readonly status: number;
  readonly code: string;
}

/**
 * The reference server's standard behaviour for errors. Source: Errors, "Status codes", "Error bodies" and "Error
 * codes".
 */
export const standardErrors = {
  errorStatus: (cause: ErrorCause, _endpoint: Endpoint): number => statusAndCodeByCause[cause].status,
  errorCode: (cause: ErrorCause, _endpoint: Endpoint): string => statusAndCodeByCause[cause].code,
  errorBody: (input: ErrorBodyInput): unknown => formA(input),
  retryAfterHeader: (_retryAfterSeconds: number): string | null => null,
};

/**
 * Creates an error body in form A: `{ error: { code, message, status } }`, and `retry_after` in `error` if a limit is
 * used up. Source: Errors, "Error bodies".
 */
export function formA({ code, message, status, detail }: ErrorBodyInput): { readonly error: object } {
  return {
    error: { code, message, status, ...(detail.kind === "limit" ? { retry_after: detail.retryAfterSeconds } : {}) },
  };
}

/**
 * Creates an error body in form B: `{ status: "error", error: { code, message, details } }`. Source: Errors, "Error
 * bodies".
 */
export function formB({ code, message, detail }: ErrorBodyInput): object {
  return { status: "error", error: { code, message, details: detailsOf(detail) } };
}

export function bothForms(input: ErrorBodyInput): object {
  return { status: "error", error: { ...formA(input).error, details: detailsOf(input.detail) } };
}

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
