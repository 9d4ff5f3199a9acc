import type { Exchange, Header } from "../../evidence/exchange.ts";
import type { WebhookEvent } from "../../spec/events.ts";
import type { Pace } from "../../wire/pace.ts";

/** A delivery to send. The body is sent unchanged, in UTF-8. */
export interface OutgoingDelivery {
  /** Description of the case that the delivery tests, such as "a wrong signature". */
  readonly what: string;
  readonly body: string;
  /** Headers that differ between deliveries, such as the signature. */
  readonly headers: readonly Header[];
  /** How to send the body in pieces. Absent: it is sent at once. */
  readonly pace?: Pace;
}

/** A delivery that was sent, and the case that it tested. */
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
