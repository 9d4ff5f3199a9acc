import type { Endpoint } from "./behaviour/transport.ts";

/** The causes of errors. `behaviour/errors.ts` maps each cause to a status and an error code. */
export const errorCauses = [
  "missing-key",
  "malformed-key",
  "wrong-key",
  "expired-key",
  "forbidden",
  "bad-signature",
  "missing-field",
  "invalid-input",
  "malformed-json",
  "content-type",
  "malformed-http",
  "too-large",
  "not-acceptable",
  "agent-not-found",
  "webhook-not-found",
  "operation-not-found",
  "entrypoint-not-found",
  "unknown-path",
  "unknown-method",
  "request-limit",
  "concurrency-limit",
  "token-quota",
  "address-limit",
  "crash",
  "timeout",
] as const;
export type ErrorCause = (typeof errorCauses)[number];

/** The details in an error body, such as the invalid field. Source: Errors, "Error bodies". */
export type ErrorDetail =
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
