import type { DeliveryAttempt, DeliveryState, Webhook } from "./webhook.ts";

/** Where a delivery goes. */
export interface Destination {
  /** `null` for a message that belongs to no webhook. */
  readonly webhookId: string | null;
  readonly url: string;
  readonly secret: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is delivered. */
export type Message =
  | {
      readonly kind: "event";
      /** The same for every webhook that gets the event. */
      readonly number: number;
      readonly type: string;
      readonly createdMs: number;
      readonly agentId: string;
      readonly deploymentId: string | null;
      readonly data: unknown;
    }
  | { readonly kind: "notice"; readonly number: number; readonly body: unknown };

/** One message on its way to one destination. Instants are Unix milliseconds on the server's clock. */
export interface Delivery {
  /** From 1, in order of creation. */
  readonly number: number;
  readonly to: Destination;
  readonly message: Message;
  readonly createdMs: number;
  readonly attempts: readonly DeliveryAttempt[];
  readonly state: DeliveryState;
  /** When the next attempt is due; `null` where none follows. While one is under way, it is still the due time of that. */
  readonly nextAttemptMs: number | null;
}

/** What became of all deliveries of one webhook, older ones included that are no longer kept. */
export interface DeliveryTotals {
  readonly delivered: number;
  readonly failed: number;
  readonly answers: number;
  /** Sum over the answers. */
  readonly answersMs: number;
  readonly lastAttemptMs: number | null;
}

export const zeroTotals: DeliveryTotals = { delivered: 0, failed: 0, answers: 0, answersMs: 0, lastAttemptMs: null };

export interface StoredWebhook {
  readonly webhook: Webhook;
  /** Whether it gets events. */
  readonly isActive: boolean;
  readonly totals: DeliveryTotals;
}

/** The highest numbers that were ever given out. */
export interface LastNumbers {
  readonly webhooks: number;
  readonly messages: number;
  readonly deliveries: number;
}

/** A store's content, in order of creation. */
export interface StoredState {
  readonly webhooks: readonly StoredWebhook[];
  readonly deliveries: readonly Delivery[];
  readonly numbers: LastNumbers;
}

/** The latest instant of which a store's content tells that it has passed, in Unix milliseconds; 0 where it tells of none. */
export function latestInstantMs({ webhooks, deliveries }: StoredState): number {
  let latest = 0;
  for (const { webhook, totals } of webhooks) latest = Math.max(latest, webhook.createdMs, totals.lastAttemptMs ?? 0);
  for (const { createdMs, attempts } of deliveries)
    latest = Math.max(latest, createdMs, ...attempts.map(({ endedMs }) => endedMs));
  return latest;
}

/** Other things to keep, such as usage alerts: JSON values by kind and id. */
export interface RecordStore {
  put(kind: string, id: string, value: unknown): void;
  /** In order of first keeping. */
  list(kind: string): readonly { readonly id: string; readonly value: unknown }[];
}

/** Where the server's state outlives it. What a call writes is there when the call returns, and all of it or nothing. */
export interface Store extends RecordStore {
  load(): StoredState;
  putWebhook(number: number, webhook: StoredWebhook): void;
  /** Adds new deliveries. */
  addDeliveries(deliveries: readonly Delivery[]): void;
  /** Replaces a delivery after its last attempt has ended, and the tally of its webhook. */
  endAttempt(delivery: Delivery, tally: DeliveryTotals): void;
  dropDelivery(number: number): void;
  close(): void;
}

/** Keeps nothing beyond the server's life. */
export function memoryStore(): Store {
  const records = new Map<string, Map<string, unknown>>();
  return {
    load: () => ({ webhooks: [], deliveries: [], numbers: { webhooks: 0, messages: 0, deliveries: 0 } }),
    putWebhook: () => {},
    addDeliveries: () => {},
    endAttempt: () => {},
    dropDelivery: () => {},
    put: (kind, id, value) => {
      const ofKind = records.get(kind) ?? new Map<string, unknown>();
      records.set(kind, ofKind.set(id, value));
    },
    list: (kind) => [...(records.get(kind) ?? [])].map(([id, value]) => ({ id, value })),
    close: () => {},
  };
}

/** A disk that fails takes nothing from the requests and deliveries in hand. */
export function warnOnFailure(write: () => void): void {
  try {
    write();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.emitWarning(`The server's state could not be kept: ${why}. It goes on without.`);
  }
}
