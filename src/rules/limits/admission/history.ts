import { type RequestSample, isAdmitted, isRefused } from "../sample.ts";

/**
 * The history of the requests on one key, as a client observed them.
 *
 * Two clocks appear. The *limiter's clock* is the target's time, as far as the client knows it: the real time, or a
 * virtual one that the client drives. The *client's clock* is the client's own monotonic time. It orders requests that
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
 * - `failed`: another error status; the request may or may not have counted.
 * - `unknown`: no response; the request may have been admitted or refused, or never have arrived.
 */
export type DecisionOutcome = "admitted" | "refused" | "failed" | "unknown";

/** A number of requests about which the same facts are known. */
export interface Counted {
  readonly count: number;
}

/** The instants between which some requests were decided, and the number of these requests. */
export type CountedSpan = Span & Counted;

/** A request that the limiter decided on at some unknown instant; or several requests, each with its own instant. */
export interface Decision extends Counted {
  readonly id: string;
  /** Limiter's clock: the decision fell at one instant of this span. `toMs` is `Infinity` if no response came. */
  readonly decided: Span;
  /** Client's clock: from sending to the head of the response. */
  readonly inFlight: Span;
  readonly outcome: DecisionOutcome;
  /** Client's clock: when the request *certainly* held a concurrency slot; `null` if that is not known. */
  readonly held: Span | null;
  /** Client's clock: the last instant at which the request may still have held a slot. */
  readonly mayHoldUntilMs: number;
  /**
   * Only on a refusal: how long its own headers say that the window is exhausted, in ms of the limiter's clock. No
   * other response contradicts the headers. Such a refusal was for the rate, whatever slots were held. No limiter that
   * would admit much sooner can have made it.
   */
  readonly reportedWaitMs?: number;
}

/**
 * Use of the key before the first decision.
 * - `nothing`: the key is fresh; nothing counts and nothing is in flight.
 * - `counted`: earlier requests may still count, but none holds a slot.
 * - `anything`: earlier requests may still count, and may still hold slots.
 */
export type PriorUse = "nothing" | "counted" | "anything";

/**
 * For each limit, the span in which one of its windows ends according to the headers. This shows when fixed windows
 * begin; other models do not use it.
 */
export type AnnouncedEnds = Readonly<Partial<Record<"hour" | "minute", Span>>>;

/** Every request on one key from the first decision on. Nobody else may use the key meanwhile. */
export interface History {
  readonly priorUse: PriorUse;
  /**
   * Client's clock: instants until which earlier requests, which no longer count, may each hold a slot. Default: none
   * does.
   */
  readonly lingeringUntilMs?: readonly number[];
  /** Ends of windows according to the target's own headers. Default: none known. */
  readonly announced?: AnnouncedEnds;
  readonly decisions: readonly Decision[];
}

export interface AdmissionOptions {
  /**
   * How far the limiter's clock may be off, in ms: every `decided` span is widened by this at both ends. Default 50.
   */
  readonly toleranceMs?: number;
  /** How long after `mayHoldUntilMs` a server may take to free a slot, in ms. Default 50. */
  readonly slotReleaseMs?: number;
  /** The month's tokens may be exhausted, which explains any refusal. Default `false`. */
  readonly tokensMayBeExhausted?: boolean;
}

/** The times of one request whose limiter runs on the client's own clock. */
export interface ObservedRequest {
  readonly id: string;
  readonly sentMs: number;
  /** When the head of the response came; `Infinity` if none did. */
  readonly answeredMs: number;
  /** When the response was complete; equal to `answeredMs` unless it streamed. */
  readonly endedMs: number;
  readonly outcome: DecisionOutcome;
  /** The least time for which the request occupies its agent. Default 0: not known. */
  readonly minOccupiedMs?: number;
  /**
   * The longest time that a byte travels on the network. Without it, the last byte of a stream does not prove that the
   * stream held a slot until then. Default: not known.
   */
  readonly maxTransitMs?: number;
}

/** Counts the requests that the decisions stand for. */
export const requestsIn = (decisions: readonly Decision[]): number =>
  decisions.reduce((sum, { count }) => sum + count, 0);

/** Derives the decision from the times of one request. */
export function decisionOf(request: ObservedRequest): Decision {
  return {
    id: request.id,
    count: 1,
    decided: { fromMs: request.sentMs, toMs: request.answeredMs },
    inFlight: { fromMs: request.sentMs, toMs: request.answeredMs },
    outcome: request.outcome,
    held: request.outcome === "admitted" ? certainHold(request) : null,
    mayHoldUntilMs: request.endedMs,
  };
}

function certainHold(request: ObservedRequest): Span | null {
  const occupiesMs = request.minOccupiedMs ?? 0;
  const fromMs = Math.min(request.answeredMs, request.endedMs - occupiesMs);
  const toMs = Math.max(request.sentMs + occupiesMs, request.endedMs - (request.maxTransitMs ?? Infinity));
  return fromMs < toMs && Number.isFinite(toMs) ? { fromMs, toMs } : null;
}

/** The fields of a sample that a decision is derived from. Client's clock, in ms. */
type Decided = Pick<RequestSample, "id" | "kind" | "status" | "sentMs" | "headMs" | "endMs">;

/**
 * The outcome of a response. A health check counts as `failed`, so it may or may not have used the allowance: other
 * checks judge whether health is limited.
 */
export function outcomeOf(answer: Pick<RequestSample, "kind" | "status">): DecisionOutcome {
  if (answer.status === null) return "unknown";
  if (answer.kind === "health") return "failed";
  if (isRefused(answer)) return "refused";
  return isAdmitted(answer) ? "admitted" : "failed";
}

/** Returns the limiter's decision on a request. It fell within `decided` on the limiter's clock, if a response came. */
export function decisionOfResponse(
  answer: Decided,
  decided: Span,
  outcome: DecisionOutcome = outcomeOf(answer),
): Decision {
  const isAnswered = answer.status !== null;
  const decision = decisionOf({
    id: answer.id,
    sentMs: answer.sentMs,
    answeredMs: isAnswered ? answer.headMs : Infinity,
    endedMs: isAnswered ? Math.max(answer.headMs, answer.endMs) : Infinity,
    outcome,
  });
  return { ...decision, decided: { fromMs: decided.fromMs, toMs: isAnswered ? decided.toMs : Infinity } };
}
