import type { ErrorCause, ErrorBodyInput, ErrorDetail } from "../api-error.ts";
import type { Endpoint } from "./transport.ts";
import { isoTime } from "./other-endpoints.ts";

interface StatusAndCode {
  readonly status: number;
  readonly code: string;
}

const badInput: StatusAndCode = { status: 400, code: "INVALID_INPUT" };
const badKey: StatusAndCode = { status: 401, code: "INVALID_API_KEY" };
const tooMany: StatusAndCode = { status: 429, code: "RATE_LIMIT_EXCEEDED" };
const notFound: StatusAndCode = { status: 404, code: "NOT_FOUND" };

const statusAndCodeByCause: Readonly<Record<ErrorCause, StatusAndCode>> = {
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
};

/** The server's decisions about errors. Source: Errors, "Status codes", "Error bodies" and "Error codes". */
export const standardErrors = {
  errorStatus: (cause: ErrorCause, _endpoint: Endpoint): number => statusAndCodeByCause[cause].status,
  errorCode: (cause: ErrorCause, _endpoint: Endpoint): string => statusAndCodeByCause[cause].code,
  errorBody: (input: ErrorBodyInput): unknown => formA(input),
  retryAfterHeader: (_retryAfterSeconds: number): string | null => null,
};

/** Makes form A: `{ error: { code, message, status, retry_after } }`. Source: Errors, "Error bodies". */
export function formA({ code, message, status, detail }: ErrorBodyInput): object {
  return {
    error: { code, message, status, ...(detail.kind === "limit" ? { retry_after: detail.retryAfterSeconds } : {}) },
  };
}

/** Makes form B: `{ status: "error", error: { code, message, details } }`. Source: Errors, "Error bodies". */
export function formB({ code, message, detail }: ErrorBodyInput): object {
  return { status: "error", error: { code, message, details: detailsOf(detail) } };
}

export function bothForms(input: ErrorBodyInput): object {
  const { code, message, status, detail } = input;
  const retry = detail.kind === "limit" ? { retry_after: detail.retryAfterSeconds } : {};
  return { status: "error", error: { code, message, status, ...retry, details: detailsOf(detail) } };
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
