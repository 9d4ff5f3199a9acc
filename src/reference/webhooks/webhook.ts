import type { WebhookEvent } from "../../spec/events.ts";

/** Owner of the webhooks from agent configuration files, which belong to no key. */
export const fileOwner = "file";

/**
 * A receiver and the events that it gets. Source: Endpoints, "6. Create a webhook"; Resources, "Webhook endpoint
 * config".
 */
export interface NewWebhook {
  readonly url: string;
  /** Event types, or wildcards such as `agent.*`. */
  readonly events: readonly string[];
  /** The only agent whose events the webhook gets; `null` for all agents. */
  readonly agentId: string | null;
  /** Secret that signs deliveries; `null` for no signature. */
  readonly secret: string | null;
  /** Extra headers of each delivery. */
  readonly headers: Readonly<Record<string, string>>;
  /** The key that owns the webhook, or `fileOwner`. */
  readonly owner: string;
}

export interface Webhook extends NewWebhook {
  readonly id: string;
  readonly createdMs: number;
}

/** An event about an agent's execution or deployment, before it gets an id. Source: Events, "Webhook events". */
export interface HostingEvent {
  readonly type: WebhookEvent;
  readonly agentId: string;
  /** `null` if the agent has no deployment. */
  readonly deploymentId: string | null;
  /** Content of the event: any JSON value, depending on the type. */
  readonly data: unknown;
}

/** One request to a receiver. Instants are Unix milliseconds on the server's clock. */
export interface DeliveryAttempt {
  readonly atMs: number;
  readonly endedMs: number;
  /** `null` if no response came in time. */
  readonly status: number | null;
  /** Why no response came, or `null`. */
  readonly failure: string | null;
}

export type DeliveryState = "pending" | "delivered" | "failed";

/** The delivery of an event to a webhook. */
export interface DeliveryRecord {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly type: string;
  readonly state: DeliveryState;
  readonly attempts: readonly DeliveryAttempt[];
  /** When the next attempt is due, possibly in the past; `null` for none. */
  readonly nextAttemptMs: number | null;
  readonly createdMs: number;
}

/** Counts of a webhook's deliveries. Source: Resources, "Webhook metrics". */
export interface WebhookMetrics {
  /** Deliveries that have ended: delivered or failed. */
  readonly totalDeliveries: number;
  readonly successful: number;
  readonly failed: number;
  /** Mean time of all responses; `null` before the first. */
  readonly averageResponseMs: number | null;
  /** When the last attempt began; `null` before the first. */
  readonly lastDeliveryMs: number | null;
}
