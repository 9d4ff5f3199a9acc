import { createHmac } from "node:crypto";
import { deliveryPolicy } from "../../spec/events.ts";
import { headerNames } from "../../spec/headers.ts";
import type { DeliveryState, HostingEvent } from "../webhooks/store.ts";
import type { Header } from "./transport.ts";

/** The data from which `eventBody` makes the body of a delivery. */
export interface EventInput extends Omit<HostingEvent, "type"> {
  /** Id of the event, made by `eventId`. */
  readonly id: string;
  readonly type: string;
  readonly createdMs: number;
}

/** The data of one attempt to deliver an event or a usage alert. */
export interface AttemptInput {
  readonly deliveryId: string;
  /** Id of the webhook; `null` for a usage alert, which belongs to no webhook. */
  readonly webhookId: string | null;
  readonly eventId: string;
  /** Type of the event; `null` for a usage alert, which has none. */
  readonly type: string | null;
  /** Number of the attempt to deliver, from 1. */
  readonly attempt: number;
}

/** The state of a delivery after an attempt. Times are Unix milliseconds. */
export interface DeliveryProgress {
  /** Number of attempts so far, at least 1. */
  readonly attemptCount: number;
  /** When the first attempt began, in Unix milliseconds. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Whether an attempt has succeeded. */
  readonly delivered: boolean;
  /** Status of the response to the last attempt; `null` if no response came in time. */
  readonly status: number | null;
}

/** The counts of a webhook's earlier deliveries when a new event occurs. */
export interface WebhookBacklog {
  readonly url: string;
  /** Number of deliveries that are not delivered or failed yet. */
  readonly pending: number;
  /** Number of failed deliveries. */
  readonly failed: number;
}

/** The published addresses of deliveries. Source: Events, "Delivery security and policy", item 2. */
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

/** Whether a header belongs to the connection or to this server, so that a webhook cannot set it. */
export const isReservedHeader = (name: string): boolean => reservedHeaders.has(name.toLowerCase());

/** The server's decisions about webhook deliveries. Source: Events, "Webhook events". */
export const standardDeliveries = {
  /** Whether a webhook's list of event types and wildcards selects this event type. */
  selectsType: (events: readonly string[], type: string): boolean =>
    events.some((event) => selectsEventType(event, type)),
  /** Whether a webhook gets an agent's events; `tiedTo` is its only agent, or `null` for all agents. */
  selectsAgent: (tiedTo: string | null, agentId: string): boolean => tiedTo === null || tiedTo === agentId,
  /** Whether a webhook gets an event to which it is subscribed, given its earlier deliveries. */
  acceptsEvent: (_load: WebhookBacklog): boolean => true,
  eventId: (number: number, _attempt: number): string => `evt_${String(number).padStart(6, "0")}`,
  /** Milliseconds from an event to the first attempt to deliver it. */
  firstDelayMs: (): number => 0,
  eventBody: ({ id, type, createdMs, data, agentId, deploymentId }: EventInput): unknown => ({
    id,
    type,
    created: new Date(createdMs).toISOString(),
    data,
    agent_id: agentId,
    ...(deploymentId === null ? {} : { deployment_id: deploymentId }),
  }),
  /** Encodes a body as the bytes that are signed and sent. */
  deliveryBytes: (body: unknown): Uint8Array => Buffer.from(JSON.stringify(body), "utf8"),
  /** Returns the secret that signs the deliveries of a webhook or an alert; `null` if it has none. */
  signingSecret: ({ secret }: { readonly url: string; readonly secret: string | null }): string | null => secret,
  /** Returns the value of the signature header; `null` omits the header. */
  deliverySignature: (bytes: Uint8Array, secret: string | null): string | null =>
    secret === null ? null : createHmac("sha256", secret).update(bytes).digest("hex"),
  /** Returns a delivery's headers, without those of the HTTP client; `custom` are the webhook's headers. */
  deliveryHeaders: (
    _facts: AttemptInput,
    signature: string | null,
    custom: Readonly<Record<string, string>>,
  ): readonly Header[] => [
    ["Content-Type", "application/json"],
    ...(signature === null ? [] : ([[headerNames.deliverySignature, signature]] as const)),
    ...Object.entries(custom).filter(([name]) => !isReservedHeader(name)),
  ],
  /** Returns the URL to which an attempt is sent. */
  deliveryUrl: (url: string, _facts: AttemptInput): string => url,
  /** Returns the local IP address from which an attempt is sent; `null` for the system's choice. */
  deliverySource: (_facts: AttemptInput): string | null => null,
  deliveryFraming: (): "length" | "chunked" => "length",
  /** Returns the name of the queue in which a delivery waits for its turn. */
  deliveryQueue: (webhookId: string | null, url: string): string => webhookId ?? url,
  maxConcurrentPerQueue: (): number => 32,
  /** Milliseconds from sending a delivery until the response's status and headers must have arrived. */
  responseTimeoutMs: (): number => deliveryPolicy.responseTimeoutMs,
  /** Whether a delivery succeeds only if the whole response body arrives within the time limit. */
  awaitsResponseBody: (): boolean => false,
  /** Whether a delivery can succeed if the receiver's response has these headers. */
  acceptsResponse: (_headerNames: readonly string[]): boolean => true,
  /** Whether the server follows a redirect of the receiver, with a GET. */
  followsRedirects: (): boolean => false,
  isDelivered: (status: number): boolean => status >= 200 && status <= 299,
  /** Returns when the next attempt of a delivery is due; `null` for no further attempt. */
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
