/** Names of the events of a stream. Source: Events, "Stream events (SSE)". */
export const streamEvents = ["start", "chunk", "error", "done"] as const;
export type StreamEventName = (typeof streamEvents)[number];

/** Event types of executions. The subscription `agent.*` selects all four. Source: Events, "Webhook events". */
export const executionEvents = ["agent.invoked", "agent.completed", "agent.failed", "agent.timeout"] as const;
export const deploymentEvents = [
  "deployment.created",
  "deployment.updated",
  "deployment.deleted",
  "deployment.health_changed",
] as const;
export const webhookEvents = [...executionEvents, ...deploymentEvents] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** Time limit for a receiver's response, and the delay before each attempt (Delivery security and policy 3, 4). */
export const deliveryPolicy = {
  responseTimeoutMs: 3000,
  retryDelaysMs: [0, 60_000, 300_000, 1_800_000, 7_200_000],
  maxAttempts: 5,
} as const;

/** Health states of an agent. Source: States and transitions, "Health status of an agent". */
export const healthStatuses = ["healthy", "degraded", "unhealthy"] as const;
export type HealthStatus = (typeof healthStatuses)[number];

/** One row of the document's error-code table. Source: Errors, "Error codes". */
interface ErrorCode {
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
