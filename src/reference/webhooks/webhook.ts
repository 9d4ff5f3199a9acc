import type { WebhookEvent } from "../../spec/events.ts";

/** Who owns the webhooks that agent configuration files name; no key does. */
export const fileOwner = "file";

/** A receiver and what it wants to hear. Source: Endpoints, "6. Create a webhook"; Resources, "Webhook endpoint config". */
export interface NewWebhook {
  readonly url: string;
  /** Event types, or wildcards such as `agent.*`. */
  readonly events: readonly string[];
  /** The only agent whose events it gets; `null` for all. */
  readonly agentId: string | null;
  /** What deliveries are signed with; `null` for no signature. */
  readonly secret: string | null;
  /** Sent with each delivery. */
  readonly headers: Readonly<Record<string, string>>;
  /** The account that it belongs to; `fileOwner` for those of an agent configuration file. */
  readonly owner: string;
}

export interface Webhook extends NewWebhook {
  readonly id: string;
  readonly createdMs: number;
}

/** Something that happened to an agent. Source: Events, "Webhook events". */
export interface HostingEvent {
  readonly type: WebhookEvent;
  readonly agentId: string;
  /** `null` where the agent has no deployment. */
  readonly deploymentId: string | null;
  /** Specific to the type; any JSON value. */
  readonly data: unknown;
}

/** One request to a receiver. Instants are Unix milliseconds on the server's clock. */
export interface DeliveryAttempt {
  readonly atMs: number;
  readonly endedMs: number;
  /** `null` where no answer came in time. */
  readonly status: number | null;
  /** Why no answer came, or `null`. */
  readonly failure: string | null;
}

export type DeliveryState = "pending" | "delivered" | "failed";

/** One event on its way to one webhook. */
export interface DeliveryRecord {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly type: string;
  readonly state: DeliveryState;
  readonly attempts: readonly DeliveryAttempt[];
  /** When the next attempt is, or was, due; `null` where none follows. */
  readonly nextAttemptMs: number | null;
  readonly createdMs: number;
}

/** Source: Resources, "Webhook metrics". */
export interface WebhookMetrics {
  /** Those that ended: delivered or failed. */
  readonly totalDeliveries: number;
  readonly successful: number;
  readonly failed: number;
  /** Mean over all attempts that were answered; `null` before the first. */
  readonly averageResponseMs: number | null;
  /** When the last attempt was made; `null` before the first. */
  readonly lastDeliveryMs: number | null;
}
