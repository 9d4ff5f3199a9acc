/** One row of the document's error-code table. Source: Errors, "Error codes". */
export interface ErrorCode {
  /** HTTP status of the error code; for codes without a status, the place where they occur. */
  readonly status: number | "in stream" | "in webhook";
  readonly condition: string;
}

export const errorCodes = {
  INVALID_API_KEY: { status: 401, condition: "the key is invalid" },
  EXPIRED_API_KEY: { status: 401, condition: "the key has expired" },
  MISSING_REQUIRED_FIELD: { status: 400, condition: "a required body field is absent" },
  INVALID_INPUT: { status: 400, condition: "the input is invalid" },
  AGENT_NOT_FOUND: { status: 404, condition: "the agent does not exist" },
  RATE_LIMIT_EXCEEDED: { status: 429, condition: "the rate limit is exceeded" },
  RATE_LIMITED: { status: 429, condition: "the rate limit is exceeded (name used around authentication)" },
  STREAM_ERROR: { status: "in stream", condition: "processing failed while streaming" },
  CAPACITY_ERROR: { status: "in stream", condition: "the model is overloaded" },
  EXECUTION_ERROR: { status: "in webhook", condition: "the agent failed to process the request" },
} as const satisfies Record<string, ErrorCode>;

export type ErrorCodeName = keyof typeof errorCodes;

/** The status codes of the document. Source: Errors, "Status codes". */
export const statusCodes = [200, 201, 400, 401, 404, 429, 500] as const;

/** Statuses that have the document's error bodies. Source: Errors, "Status codes" and "Error bodies". */
export const errorStatuses: readonly number[] = statusCodes.filter((status) => status >= 400);

export const rateLimitCodes = ["RATE_LIMIT_EXCEEDED", "RATE_LIMITED"] as const satisfies readonly ErrorCodeName[];
