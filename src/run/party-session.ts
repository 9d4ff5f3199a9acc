import type { Exchange, Header } from "../evidence/exchange.ts";
import type { CommandRun } from "../evidence/client-call.ts";
import type { WebhookEvent } from "../spec/events-and-errors.ts";
import type { Pace } from "../wire/transport.ts";

/** A session in which the client under test sends requests to the reference server. */
export interface ClientSession {
  /** The secret with which the client signs its requests, if the client signs them. */
  readonly signingSecret: string;
  /** Whether every wrong request of the client is a breach. If `false`, most wrong requests are only noted. */
  readonly isStrict: boolean;
  /**
   * Runs the client's command while the server injects no errors. Throws `TargetUnavailable` if the command fails or
   * sends nothing.
   */
  readonly runPlainly: () => Promise<CommandRun>;
  /**
   * Runs the client's command repeatedly, until the server has injected each kind of error. Stops earlier after a
   * maximum number of runs, or at a time limit.
   */
  readonly runTroubled: () => Promise<readonly CommandRun[]>;
}

/** A webhook delivery to send. Its `body` is sent unchanged. */
export interface OutgoingDelivery {
  /** Description of the test case, such as "a wrong signature". */
  readonly what: string;
  readonly body: string;
  /** Headers of this delivery only, such as its signature. */
  readonly headers: readonly Header[];
  /** Number of pieces in which the body is sent, and the pause between them. Absent: the body is sent as a whole. */
  readonly pace?: Pace;
}

export interface SentDelivery {
  readonly what: string;
  readonly exchange: Exchange;
}

export interface DeliverySender {
  readonly secrets: readonly [string, ...string[]];
  readonly events: readonly [WebhookEvent, ...WebhookEvent[]];
  readonly agent: string;
  readonly deliver: (delivery: OutgoingDelivery) => Promise<SentDelivery>;
}
