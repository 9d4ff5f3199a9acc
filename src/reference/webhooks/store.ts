import { messageOf } from "../../base/errors.ts";
import { getOrAdd } from "../../base/memoize.ts";
import type { WebhookEvent } from "../../spec/events-and-errors.ts";

/** The `owner` of webhooks from agent configuration files. Other webhooks have a key's name as `owner`. */
export const fileOwner = "file";

/** A webhook to be added, still without an id. Source: Resources, "Webhook endpoint config". */
export interface NewWebhook {
  readonly url: string;
  /** Event types, or wildcards such as `agent.*`. */
  readonly events: readonly string[];
  /** The only agent whose events the webhook gets; `null` for all agents. */
  readonly agentId: string | null;
  readonly secret: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly owner: string;
}

export interface Webhook extends NewWebhook {
  readonly id: string;
  readonly createdMs: number;
}

/** An event of an agent. It gets its id when the server delivers it. Source: Events, "Webhook events". */
export interface HostingEvent {
  readonly type: WebhookEvent;
  readonly agentId: string;
  readonly deploymentId: string | null;
  readonly data: unknown;
}

/** One attempt of a delivery: a request to the receiver. Times are Unix milliseconds on the server's clock. */
export interface DeliveryAttempt {
  readonly atMs: number;
  readonly endedMs: number;
  readonly status: number | null;
  readonly failure: string | null;
}

export type DeliveryState = "pending" | "delivered" | "failed";

export interface DeliveryDestination extends Pick<NewWebhook, "url" | "secret" | "headers"> {
  readonly webhookId: string | null;
}

export interface EventMessage extends Omit<HostingEvent, "type"> {
  readonly kind: "event";
  /** Number of the event. All webhooks that get the event get the same number. */
  readonly number: number;
  readonly type: string;
  readonly createdMs: number;
}

export type DeliveryMessage =
  | EventMessage
  | { readonly kind: "notice"; readonly number: number; readonly body: unknown };

/** A message for one destination, with its attempts so far. Times are Unix milliseconds on the server's clock. */
export interface Delivery {
  readonly number: number;
  readonly to: DeliveryDestination;
  readonly message: DeliveryMessage;
  readonly createdMs: number;
  readonly attempts: readonly DeliveryAttempt[];
  readonly state: DeliveryState;
  /** Due time of the next or running attempt, which may be in the past; `null` if no further attempt follows. */
  readonly nextAttemptMs: number | null;
}

/** A delivery of an event, as `GET /webhooks/{webhook_id}/deliveries` shows it. */
export interface DeliveryRecord extends Pick<Delivery, "state" | "attempts" | "nextAttemptMs" | "createdMs"> {
  readonly id: string;
  readonly eventId: string;
  readonly type: string;
}

/** Totals of all deliveries of a webhook, even of dropped ones. Source: Resources, "Webhook metrics". */
export interface DeliveryTotals {
  readonly delivered: number;
  readonly failed: number;
  readonly answers: number;
  /** Sum of the response times of the receiver, in milliseconds. */
  readonly answersMs: number;
  readonly lastAttemptMs: number | null;
}

export const zeroTotals: DeliveryTotals = { delivered: 0, failed: 0, answers: 0, answersMs: 0, lastAttemptMs: null };

export interface StoredWebhook {
  readonly webhook: Webhook;
  readonly isActive: boolean;
  readonly totals: DeliveryTotals;
}

/** Highest numbers given to webhooks, messages and deliveries so far. No number is used twice. */
type LastNumbers = Readonly<Record<"webhooks" | "messages" | "deliveries", number>>;

export const noNumbers: LastNumbers = { webhooks: 0, messages: 0, deliveries: 0 };

export interface StoredState {
  readonly webhooks: readonly StoredWebhook[];
  readonly deliveries: readonly Delivery[];
  readonly numbers: LastNumbers;
}

export function latestInstantMs({ webhooks, deliveries }: StoredState): number {
  let latest = 0;
  for (const { webhook, totals } of webhooks) latest = Math.max(latest, webhook.createdMs, totals.lastAttemptMs ?? 0);
  for (const { createdMs, attempts } of deliveries)
    latest = Math.max(latest, createdMs, ...attempts.map(({ endedMs }) => endedMs));
  return latest;
}

/** Stores JSON values that are neither webhooks nor deliveries, such as usage alerts, by kind and id. */
export interface RecordStore {
  put(kind: string, id: string, value: unknown): void;
  list(kind: string): readonly { readonly id: string; readonly value: unknown }[];
}

/** Stores the server's state. Each write is complete when its method returns; a failed write changes nothing. */
export interface Store extends RecordStore {
  load(): StoredState;
  putWebhook(number: number, webhook: StoredWebhook): void;
  addDeliveries(deliveries: readonly Delivery[]): void;
  endAttempt(delivery: Delivery, totals: DeliveryTotals): void;
  dropDelivery(number: number): void;
  close(): void;
}

export function memoryStore(): Store {
  const records = new Map<string, Map<string, unknown>>();
  return {
    load: () => ({ webhooks: [], deliveries: [], numbers: noNumbers }),
    putWebhook: () => {},
    addDeliveries: () => {},
    endAttempt: () => {},
    dropDelivery: () => {},
    put: (kind, id, value) => void getOrAdd(records, kind, () => new Map<string, unknown>()).set(id, value),
    list: (kind) => [...(records.get(kind) ?? [])].map(([id, value]) => ({ id, value })),
    close: () => {},
  };
}

/** Runs a write to the store. A failure only prints a warning, so that requests still get responses. */
export function warnOnFailure(write: () => void): void {
  try {
    write();
  } catch (error) {
    process.emitWarning(`The server's state could not be kept: ${messageOf(error)}. It goes on without.`);
  }
}
