import { type Decision, type History, requestsIn, type AdmissionOptions } from "./history.ts";
import { hourMs, minuteMs } from "../../../base/duration.ts";
import type { TierLimits } from "../../../spec/tiers.ts";
import type { LimitName } from "./models.ts";
import { maxHeldSlots } from "./slots.ts";
import { requestsBefore, timelineOf } from "./timeline.ts";

/**
 * The way in which a history breaks the limits.
 *
 * - `too many admitted`: more requests were admitted than any limiter with the published numbers admits.
 * - `refused below limit`: a request was refused although no limit can have been reached.
 * - `inconsistent`: each response is legal for some limiter, but no single limiter explains all responses together.
 */
export type BreachKind = "too many admitted" | "refused below limit" | "inconsistent";

export interface LimitBreach {
  readonly kind: "breach";
  readonly breach: BreachKind;
  readonly limit: LimitName | "concurrency" | "any";
  readonly expected: string;
  readonly actual: string;
  /**
   * Ids of the requests that prove the breach. If three of these requests share an id, the id is listed three times.
   */
  readonly witness: readonly string[];
}

export function describeExpected(breach: BreachKind, limit: LimitBreach["limit"], limits: TierLimits): string {
  const numbers = `${limits.perMinute} a minute, ${limits.perHour} an hour, ${limits.concurrent} at a time`;
  const burst = limits.burst === null ? "a burst of unknown size" : `a burst of ${limits.burst}`;
  if (breach === "refused below limit") return `no refusal before a limit is reached: ${numbers}, ${burst}`;
  if (breach === "inconsistent") return `one limiter that explains every response: ${numbers}, ${burst}`;
  if (limit === "concurrency") return `at most ${limits.concurrent} requests at a time`;
  if (limit === "hour") return `at most ${limits.perHour} requests in an hour, wherever its windows begin`;
  return `at most ${limits.perMinute} requests in a minute, and ${burst}, wherever its windows begin`;
}

export function describeActual(
  breach: BreachKind,
  limit: LimitBreach["limit"],
  witness: readonly Decision[],
  history: History,
  options: AdmissionOptions,
): string {
  if (limit === "concurrency") return `${maxHeldSlots(witness).count} requests held a slot at the same time`;
  if (breach === "refused below limit")
    return witness.map((refusal) => describeCountedAt(refusal, history, options)).join("; ");
  return `${admittedAndRefused(witness)}, on a key ${textsOfPriorUse[history.priorUse]}`;
}

const textsOfPriorUse = {
  nothing: "not used before",
  counted: "used before",
  anything: "used before, perhaps still in use",
} as const;

function admittedAndRefused(witness: readonly Decision[]): string {
  const parts = (["admitted", "refused"] as const).flatMap((outcome) => {
    const those = witness.filter((decision) => decision.outcome === outcome);
    return those.length === 0 ? [] : [`${requestsIn(those)} ${outcome} within ${spanOf(those)}`];
  });
  return parts.join(" and ");
}

function spanOf(decisions: readonly Decision[]): string {
  const fromMs = decisions.reduce((earliest, { decided }) => Math.min(earliest, decided.fromMs), Infinity);
  const toMs = decisions.reduce((latest, { decided }) => Math.max(latest, decided.toMs), -Infinity);
  return `${((toMs - fromMs) / 1000).toFixed(1)} s`;
}

function describeCountedAt(refusal: Decision, history: History, options: AdmissionOptions): string {
  const timeline = timelineOf(history, options, [refusal], new Set());
  const before = timeline.refusals[0]?.countedBefore ?? 0;
  const since = (windowMs: number) =>
    before - requestsBefore(timeline.counted.latest, (timeline.refusals[0]?.fromMs ?? 0) - windowMs);
  return (
    `request ${refusal.id} was refused when at most ${since(minuteMs)} others can have counted in the minute ` +
    `and ${since(hourMs)} in the hour before it`
  );
}

export interface Witness {
  /** The requests whose outcomes prove the breach. */
  readonly known: readonly Decision[];
  /**
   * The requests sent before the last response to a request in `known`. All requests outside `known` have the outcome
   * `"unknown"` here: the proof does not need their real outcomes.
   */
  readonly history: History;
}

type IsBreach = (history: History) => boolean;

/** A part of a history. For a decision on 10 equal requests, the map says how many of them are in the part, e.g. 3. */
type RequestSubset = ReadonlyMap<Decision, number>;

/** Limits `dropChunks` to about a second of work: for example, to 60 attempts for a history of 980 requests. */
const maxExaminedRequests = 60_000;

/** Finds a small set of requests whose outcomes alone prove a breach. */
export function smallestWitness(history: History, isBreach: IsBreach): Witness {
  const ordered = history.decisions.toSorted((left, right) => left.inFlight.toMs - right.inFlight.toMs);
  const all = requestsIn(ordered);
  const provenBy = (known: RequestSubset) => isBreach(withOnlyKnownOutcomes(history, known));
  const end = smallestCount(all, (count) => provenBy(requestsInRange(ordered, 0, count)));
  const start = end - smallestCount(end, (count) => provenBy(requestsInRange(ordered, end - count, end)));
  const known = dropChunks(
    requestsInRange(ordered, start, end),
    Math.floor(maxExaminedRequests / (all + 20)),
    provenBy,
  );
  return {
    known: known
      .entries()
      .map(([decision, count]) => ({ ...decision, count }))
      .toArray(),
    history: withOnlyKnownOutcomes(history, known),
  };
}

function requestsInRange(ordered: readonly Decision[], from: number, end: number): RequestSubset {
  const subset = new Map<Decision, number>();
  let before = 0;
  for (const decision of ordered) {
    const count = Math.min(end, before + decision.count) - Math.max(from, before);
    if (count > 0) subset.set(decision, count);
    before += decision.count;
  }
  return subset;
}

function withOnlyKnownOutcomes(history: History, known: RequestSubset): History {
  const lastMs = known.keys().reduce((max, decision) => Math.max(max, decision.inFlight.toMs), -Infinity);
  const decisions = history.decisions
    .filter((decision) => decision.inFlight.fromMs <= lastMs)
    .flatMap((decision): Decision[] => {
      const count = known.get(decision) ?? 0;
      const others = decision.count - count;
      if (others === 0) return [decision];
      const forgotten: Decision = { ...decision, count: others, outcome: "unknown", held: null };
      return count === 0 ? [forgotten] : [{ ...decision, count }, forgotten];
    });
  return { ...history, decisions };
}

/** Finds the smallest count for which `holds` is true. `holds` must also be true for all larger counts. */
function smallestCount(max: number, holds: (count: number) => boolean): number {
  let low = 0;
  let high = max;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

function dropChunks(all: RequestSubset, attempts: number, provenBy: (known: RequestSubset) => boolean): RequestSubset {
  if (attempts === 0) return all;
  let known = [...all].flatMap(([decision, count]) => Array<Decision>(count).fill(decision));
  let attemptsLeft = attempts;
  for (let size = Math.ceil(known.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < known.length && attemptsLeft > 0; attemptsLeft -= 1) {
      const fewer = known.toSpliced(at, size);
      if (provenBy(subsetOf(fewer))) known = fewer;
      else at += size;
    }
  }
  return subsetOf(known);
}

function subsetOf(requests: readonly Decision[]): RequestSubset {
  const subset = new Map<Decision, number>();
  for (const decision of requests) subset.set(decision, (subset.get(decision) ?? 0) + 1);
  return subset;
}
