import { type RequestSample, isAdmitted, isRefused } from "../sample.ts";

/**
 * The history of the requests on one key, as a client observed them.
 * The *limiter's clock* is the target's time, real or virtual. The *client's clock* is monotonic: it orders
 * requests and measures how long slots were held.
 */

/** A span of time in milliseconds, both ends included. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The outcome of a limiter's decision.
 *
 * - `admitted`: let through, and certainly counted.
 * - `refused`: status 429.
 * - `failed`: the limiter may or may not have counted the request, e.g. status 500, or a response to a health request.
 * - `unknown`: no response. The request can have been admitted or refused, or never have arrived.
 */
export type DecisionOutcome = "admitted" | "refused" | "failed" | "unknown";

/** A group of `count` requests that the harness cannot tell apart. */
export interface Counted {
  readonly count: number;
}

export type CountedSpan = Span & Counted;

/** The limiter's decision on `count` equal requests. The limiter decided at some time within `decided`. */
export interface Decision extends Counted {
  readonly id: string;
  /**
   * Earliest and latest time of the decision, on the limiter's clock. Without a response, the latest time is
   * `Infinity`, unless the client disconnected.
   */
  readonly decided: Span;
  /** Time from sending the request to receiving the head of the response, on the client's clock. */
  readonly inFlight: Span;
  readonly outcome: DecisionOutcome;
  /** When the request *certainly* held a concurrency slot, on the client's clock; `null` if that is not known. */
  readonly held: Span | null;
  /** Latest time at which the request may still have held a slot, on the client's clock. */
  readonly mayHoldUntilMs: number;
  /**
   * Wait that the refusal announces (`retry_after`), in ms of the limiter's clock. Absent if the concurrency limit may
   * have refused the request, or if the limiter admitted another request before the wait was over.
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

/** When a fixed window of an hour or a minute ends, according to the response headers. */
export type AnnouncedEnds = Readonly<Partial<Record<"hour" | "minute", Span>>>;

/** All requests with one key in a period. In this period, no other client is allowed to use the key. */
export interface History {
  readonly priorUse: PriorUse;
  /** Requests from before the history can hold concurrency slots until these times. Default: none. */
  readonly lingeringUntilMs?: readonly number[];
  readonly announced?: AnnouncedEnds;
  readonly decisions: readonly Decision[];
}

export interface AdmissionOptions {
  /** Tolerance for differing clocks, in ms: each decision can be this much earlier or later. Default: 50. */
  readonly toleranceMs?: number;
  /** Maximum time that a server may take to free a concurrency slot after the request has ended, in ms. Default: 50. */
  readonly slotReleaseMs?: number;
  /** Whether the tokens of the month may be exhausted, which would explain any refusal. Default `false`. */
  readonly tokensMayBeExhausted?: boolean;
}

/** A request as its client observed it. All times are in ms, on a clock that client and limiter share. */
interface ObservedRequest {
  readonly id: string;
  readonly sentMs: number;
  /** When the head of the response arrived. Without a response, the latest possible time of the decision. */
  readonly answeredMs: number;
  /** When the response was complete. Without a response, equal to `answeredMs`. */
  readonly endedMs: number;
  readonly outcome: DecisionOutcome;
  /** Minimum time that the agent worked on the request. Default: 0 (unknown). */
  readonly minOccupiedMs?: number;
  /**
   * Maximum network delay of the response; default: unknown. The request held its concurrency slot at least until
   * `endedMs - maxTransitMs`.
   */
  readonly maxTransitMs?: number;
}

/** Adds up the `count` of the decisions: one decision can stand for several equal requests. */
export const requestsIn = (decisions: readonly Decision[]): number =>
  decisions.reduce((sum, { count }) => sum + count, 0);

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

type DecisionSample = Pick<RequestSample, "id" | "kind" | "status" | "sentMs" | "headMs" | "endMs">;

/** Returns the outcome that a response shows. `failed` for health: some targets count health requests by mistake. */
export function decisionOutcomeOf(answer: Pick<RequestSample, "kind" | "status">): DecisionOutcome {
  if (answer.status === null) return "unknown";
  if (answer.kind === "health") return "failed";
  if (isRefused(answer)) return "refused";
  return isAdmitted(answer) ? "admitted" : "failed";
}

export function decisionOfResponse(
  answer: DecisionSample,
  decided: Span,
  outcome: DecisionOutcome = decisionOutcomeOf(answer),
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
