import type { CommandRun } from "../evidence/client-call.ts";
import type { Exchange, Header } from "../evidence/exchange.ts";
import type { WebhookEvent } from "../spec/events.ts";
import type { Pace } from "../wire/transport.ts";

/** Runs the command of a client under test against the reference server. */
export interface ClientSession {
  /** The secret that the client was given. If the client signs requests, it does so with this secret. */
  readonly signingSecret: string;
  /** Whether a wrong request breaks a clause, instead of giving a note. */
  readonly isStrict: boolean;
  /** Runs the command once with a correct server; throws `TargetUnavailable` if it fails or sends nothing. */
  readonly runPlainly: () => Promise<CommandRun>;
  /** Runs the command until the server has injected each kind of error once; skips if the user chose none. */
  readonly runTroubled: () => Promise<readonly CommandRun[]>;
}

/** A delivery to send. `body` is sent unchanged, in UTF-8. */
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
