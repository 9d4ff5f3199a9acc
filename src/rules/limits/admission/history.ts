/**
 * What a client saw happen to the requests on one key.
 *
 * Two clocks appear. The *limiter's clock* is the target's time, as far as the client knows it: the real time, or a
 * virtual one that the client drives. The *client's clock* is the client's own monotone time; it orders requests that
 * share an instant of the limiter's clock, and it measures how long a concurrency slot was held.
 */

/** A span of time in milliseconds, both ends included. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * - `admitted`: let through, and certainly counted.
 * - `refused`: 429.
 * - `failed`: answered with another error; it may or may not have counted.
 * - `unknown`: no answer; it may have been admitted, refused or never have arrived.
 */
export type DecisionOutcome = "admitted" | "refused" | "failed" | "unknown";

/** What stands for one request, or for several that are alike in all that is known of them. */
export interface Counted {
  readonly count: number;
}

/** A span in which each of so many requests lies. */
export type CountedSpan = Span & Counted;

/** A request that the limiter decided about, at some unknown instant; or several, each at an instant of its own. */
export interface Decision extends Counted {
  readonly id: string;
  /** Limiter's clock: the decision fell at one instant of this span. `toMs` may be `Infinity` where no answer came. */
  readonly decided: Span;
  /** Client's clock: from sending to the head of the answer. */
  readonly inFlight: Span;
  readonly outcome: DecisionOutcome;
  /** Client's clock: when the request *certainly* held a concurrency slot, `null` where that is not known. */
  readonly held: Span | null;
  /** Client's clock: the last instant at which the request may still have held a slot. */
  readonly mayHoldUntilMs: number;
  /**
   * Of a refusal: its own answer says, and nothing gainsays, that the window of requests is used up for so long, in ms of the limiter's clock.
   * Then it was for the rate, whatever slots were held, and by no limiter that would have had room much sooner.
   */
  readonly saysWaitMs?: number;
}

/**
 * What came before the first decision.
 * - `nothing`: the key is fresh; nothing counts and nothing is in flight.
 * - `counted`: earlier requests may still count, but none holds a slot.
 * - `anything`: earlier requests may still count, and may still hold slots.
 */
export type PriorUse = "nothing" | "counted" | "anything";

/** By limit, a span in which a window is said to end. It tells where fixed windows lie, and nothing where windows are of another kind. */
export type AnnouncedEnds = Readonly<Partial<Record<"hour" | "minute", Span>>>;

/** Everything that happened on one key from its first decision on; nobody else may use the key meanwhile. */
export interface History {
  readonly priorUse: PriorUse;
  /** Client's clock: earlier requests, that count no more, may hold a slot each until these instants. Default: none does. */
  readonly lingeringUntilMs?: readonly number[];
  /** Where the target's own headers say that windows end. Default: nowhere. */
  readonly announced?: AnnouncedEnds;
  readonly decisions: readonly Decision[];
}

export interface AdmissionOptions {
  /** How far the limiter's clock may be off, in ms; every `decided` span is widened by it at both ends. Default 50. */
  readonly toleranceMs?: number;
  /** How long after `mayHoldUntilMs` a server may take to give a slot back, in ms. Default 50. */
  readonly slotReleaseMs?: number;
  /** The month's tokens may be used up, which explains any refusal. Default `false`. */
  readonly tokensMayBeExhausted?: boolean;
}

/** What a client knows of one request whose limiter runs on the client's own clock. */
export interface ObservedRequest {
  readonly id: string;
  readonly sentMs: number;
  /** When the head of the answer came; `Infinity` where none did. */
  readonly answeredMs: number;
  /** When the answer was complete; equal to `answeredMs` unless it streamed. */
  readonly endedMs: number;
  readonly outcome: DecisionOutcome;
  /** Limiter's time minus client's time, in ms. Default 0. */
  readonly clockOffsetMs?: number;
  /** The request is known to occupy its agent for at least this long. Default 0: not known. */
  readonly occupiesAtLeastMs?: number;
  /** The network delays a byte by at most this long. Default: not known, so that a stream's last byte proves no hold. */
  readonly transitAtMostMs?: number;
}

/** How many requests these decisions stand for. */
export const requestsIn = (decisions: readonly Decision[]): number =>
  decisions.reduce((sum, { count }) => sum + count, 0);

/** The decision that follows from the times of one request. */
export function decisionOf(seen: ObservedRequest): Decision {
  const offset = seen.clockOffsetMs ?? 0;
  return {
    id: seen.id,
    count: 1,
    decided: { fromMs: seen.sentMs + offset, toMs: seen.answeredMs + offset },
    inFlight: { fromMs: seen.sentMs, toMs: seen.answeredMs },
    outcome: seen.outcome,
    held: seen.outcome === "admitted" ? certainHold(seen) : null,
    mayHoldUntilMs: seen.endedMs,
  };
}

function certainHold(seen: ObservedRequest): Span | null {
  const occupiesMs = seen.occupiesAtLeastMs ?? 0;
  const fromMs = Math.min(seen.answeredMs, seen.endedMs - occupiesMs);
  const toMs = Math.max(seen.sentMs + occupiesMs, seen.endedMs - (seen.transitAtMostMs ?? Infinity));
  return fromMs < toMs && Number.isFinite(toMs) ? { fromMs, toMs } : null;
}
