import type { Exchange, Header } from "../../evidence/exchange.ts";
import type { WebhookEvent } from "../../spec/events.ts";
import type { Pace } from "../../wire/pace.ts";

/** A delivery to send. The body is sent unchanged, in UTF-8. */
export interface OutgoingDelivery {
  /** The case that the delivery tries, such as "a wrong signature". */
  readonly what: string;
  readonly body: string;
  /** Headers that depend on the delivery, such as its signature. */
  readonly headers: readonly Header[];
  /** How the body is sent in pieces. Absent: at once. */
  readonly pace?: Pace;
}

/** A delivery that was sent, and the case that it tried. */
export interface SentDelivery {
  readonly what: string;
  readonly exchange: Exchange;
}

/** Sends deliveries to one receiver, as the service would. */
export interface DeliverySender {
  /** The secrets of the receiver's webhooks. */
  readonly secrets: readonly [string, ...string[]];
  /** The event types that the webhooks subscribed to. */
  readonly events: readonly [WebhookEvent, ...WebhookEvent[]];
  /** The agent that the events are about. */
  readonly agent: string;
  readonly deliver: (delivery: OutgoingDelivery) => Promise<SentDelivery>;
}
