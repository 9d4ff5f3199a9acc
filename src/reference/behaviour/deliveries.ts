import { createHmac } from "node:crypto";
import { deliveryPolicy } from "../../spec/events-and-errors.ts";
import { headerNames } from "../../spec/headers.ts";
import type { DeliveryState, EventMessage } from "../webhooks/store.ts";
import type { Header } from "./transport.ts";

export interface EventInput extends Omit<EventMessage, "kind" | "number"> {
  readonly id: string;
}

export interface DeliveryAttemptInput {
  readonly deliveryId: string;
  readonly webhookId: string | null;
  readonly eventId: string;
  readonly type: string | null;
  readonly attempt: number;
}

export interface DeliveryProgress {
  /** `null` if the delivery is a usage alert. Alerts belong to no webhook. */
  readonly webhookId: string | null;
  readonly type: string | null;
  readonly attemptCount: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly delivered: boolean;
  readonly status: number | null;
}

export interface WebhookBacklog {
  readonly url: string;
  readonly pending: number;
  readonly failed: number;
}

/**
 * Addresses that a server on loopback publishes as the sources of its deliveries. Source: Events, "Delivery security
 * and policy", item 2.
 */
export const loopbackSources = ["127.0.0.1", "127.0.0.2", "127.0.0.3"] as const;

const reservedHeaders: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "content-type",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "expect",
  "upgrade",
  "te",
  "trailer",
  headerNames.deliverySignature.toLowerCase(),
]);

/**
 * Whether this server or its HTTP connection sets the header. If so, a webhook's own value for the header is not sent.
 */
export const isReservedHeader = (name: string): boolean => reservedHeaders.has(name.toLowerCase());

/** The reference server's standard behaviour for webhook deliveries. Source: Events, "Webhook events". */
export const standardDeliveries = {
  selectsType: (events: readonly string[], type: string): boolean =>
    events.some((event) => selectsEventType(event, type)),
  selectsAgent: (tiedTo: string | null, agentId: string): boolean => tiedTo === null || tiedTo === agentId,
  acceptsEvent: (_load: WebhookBacklog): boolean => true,
  eventId: (number: number, _attempt: number): string => `evt_${String(number).padStart(6, "0")}`,
  firstDelayMs: (): number => 0,
  eventBody: ({ id, type, createdMs, data, agentId, deploymentId }: EventInput): unknown => ({
    id,
    type,
    created: new Date(createdMs).toISOString(),
    data,
    agent_id: agentId,
    ...(deploymentId === null ? {} : { deployment_id: deploymentId }),
  }),
  deliveryBytes: (body: unknown): Uint8Array => Buffer.from(JSON.stringify(body), "utf8"),
  signingSecret: ({ secret }: { readonly url: string; readonly secret: string | null }): string | null => secret,
  deliverySignature: (bytes: Uint8Array, secret: string | null): string | null =>
    secret === null ? null : createHmac("sha256", secret).update(bytes).digest("hex"),
  deliveryHeaders: (
    _facts: DeliveryAttemptInput,
    signature: string | null,
    custom: Readonly<Record<string, string>>,
  ): readonly Header[] => [
    ["Content-Type", "application/json"],
    ...(signature === null ? [] : ([[headerNames.deliverySignature, signature]] as const)),
    ...Object.entries(custom).filter(([name]) => !isReservedHeader(name)),
  ],
  deliveryUrl: (url: string, _facts: DeliveryAttemptInput): string => url,
  deliverySource: (_facts: DeliveryAttemptInput): string | null => null,
  deliveryFraming: (): "length" | "chunked" => "length",
  deliveryQueue: (webhookId: string | null, url: string): string => webhookId ?? url,
  maxConcurrentPerQueue: (): number => 32,
  responseTimeoutMs: (): number => deliveryPolicy.responseTimeoutMs,
  /** Whether a delivery succeeds only if the whole response body arrives within the time limit. */
  awaitsResponseBody: (): boolean => false,
  acceptsResponse: (_headerNames: readonly string[]): boolean => true,
  followsRedirects: (): boolean => false,
  isDelivered: (status: number): boolean => status >= 200 && status <= 299,
  nextAttemptMs: ({ attemptCount, lastMs, delivered }: DeliveryProgress): number | null => {
    const delayMs = deliveryPolicy.retryDelaysMs[attemptCount];
    return delivered || attemptCount >= deliveryPolicy.maxAttempts || delayMs === undefined ? null : lastMs + delayMs;
  },
  stateAfter: ({ delivered }: DeliveryProgress, nextAttemptMs: number | null): DeliveryState =>
    delivered ? "delivered" : nextAttemptMs === null ? "failed" : "pending",
};

export type DeliveryBehaviour = typeof standardDeliveries;

function selectsEventType(event: string, type: string): boolean {
  return event === type || (event.endsWith(".*") && type.startsWith(event.slice(0, -1)));
}
