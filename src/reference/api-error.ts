/**
 * The endpoint that a request calls. `unknown` is a path or method that the document does not define. `description`
 * (OpenAPI), `clock` and `control` (deployments) belong to this server and are not in the document.
 */
export type Operation =
  | "invoke"
  | "stream"
  | "health"
  | "list"
  | "usage"
  | "createWebhook"
  | "listDeliveries"
  | "webhookMetrics"
  | "createAlert"
  | "keyUsage"
  | "checkOperation"
  | "batch"
  | "execute"
  | "describeAgent"
  | "unknown"
  | "description"
  | "clock"
  | "control";

/**
 * Whether an operation belongs to this server and not to the document. These operations need no key and have no limits.
 */
export function isServerOwn(operation: Operation): boolean {
  return operation === "description" || operation === "clock" || operation === "control";
}

/** Whether an operation runs an agent. */
export function runsAgent(operation: Operation): boolean {
  return operation === "invoke" || operation === "stream" || operation === "execute" || operation === "batch";
}

/** The causes of errors. `behaviour/errors.ts` has the status and the code for each cause. */
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

/** The details of an error body: none, a wrong field, or a limit. Source: Errors, "Error bodies". */
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

/** The cause and details of an error, before the behaviour chooses its status, code and body. */
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

/** The cause, status and code of an error, and everything else that its body needs. */
export interface ErrorBodyInput extends ApiError {
  readonly operation: Operation;
  readonly status: number;
  readonly code: string;
}
