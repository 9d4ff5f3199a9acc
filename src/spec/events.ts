/** Names of the events of a stream. Source: Events, "Stream events (SSE)". */
export const streamEvents = ["start", "chunk", "error", "done"] as const;
export type StreamEventName = (typeof streamEvents)[number];

/**
 * Event types of executions. The subscription `agent.*` selects all four. Source: Events, "Webhook events".
 */
export const executionEvents = ["agent.invoked", "agent.completed", "agent.failed", "agent.timeout"] as const;
export const deploymentEvents = [
  "deployment.created",
  "deployment.updated",
  "deployment.deleted",
  "deployment.health_changed",
] as const;
export const webhookEvents = [...executionEvents, ...deploymentEvents] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** Time limit for a webhook receiver's response, and delays of retries (Delivery security and policy 3, 4). */
export const deliveryPolicy = {
  responseTimeoutMs: 3000,
  retryDelaysMs: [0, 60_000, 300_000, 1_800_000, 7_200_000],
  maxAttempts: 5,
} as const;

/** Health states of an agent. Source: States and transitions, "Health status of an agent". */
export const healthStatuses = ["healthy", "degraded", "unhealthy"] as const;
export type HealthStatus = (typeof healthStatuses)[number];
