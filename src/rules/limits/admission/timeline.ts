import type { AdmissionOptions, CountedSpan, Decision, History } from "./history.ts";
import { type Tally, tallyOf, upTo } from "./tally.ts";

/** Instants of requests: the earliest and the latest ones possible, each list sorted by itself. */
export interface Instants {
  readonly earliest: Tally;
  readonly latest: Tally;
}

/** A refusal, or several alike, with the number of requests that can have counted by then. */
export interface TimedRefusal {
  readonly decision: Decision;
  readonly fromMs: number;
  readonly toMs: number;
  /** Other requests that may have been decided and counted before it. */
  readonly countedBefore: number;
  /** The refusals among `countedBefore`. */
  readonly refusedBefore: number;
}

/**
 * A history on the limiter's clock, widened by the tolerance, and sorted for sweeps. `counted` are the requests that
 * may count: all but refusals, and the refusals in `mayCount`.
 */
export interface AdmissionTimeline {
  /** Admitted requests, by their earliest instant. */
  readonly admitted: readonly CountedSpan[];
  /** Subsets of the admitted requests: first all of them, then only those with ever narrower spans. */
  readonly layers: readonly Instants[];
  readonly counted: Instants;
  readonly refusals: readonly TimedRefusal[];
  readonly startMs: number;
  /** The last finite instant. */
  readonly endMs: number;
  /** Earlier requests that the client did not send may count until this instant; `-Infinity` for a fresh key. */
  readonly unknownUseUntilMs: number;
}

export function timelineOf(
  history: History,
  options: AdmissionOptions,
  refusals: readonly Decision[],
  mayCount: ReadonlySet<Decision>,
): AdmissionTimeline {
  const tolerance = options.toleranceMs ?? 50;
  const from = (decision: Decision) => decision.decided.fromMs - tolerance;
  const to = (decision: Decision) => decision.decided.toMs + tolerance;
  const admitted = history.decisions
    .filter((decision) => decision.outcome === "admitted")
    .map((decision): CountedSpan => ({ fromMs: from(decision), toMs: to(decision), count: decision.count }))
    .toSorted((left, right) => left.fromMs - right.fromMs);
  const countable = history.decisions.filter((decision) => decision.outcome !== "refused" || mayCount.has(decision));
  const counted = { earliest: tallyOf(countable, from), latest: tallyOf(countable, to) };
  const sent = tallyOf(countable, (decision) => decision.inFlight.fromMs);
  const refused = tallyOf([...mayCount], from);
  const instants = history.decisions.flatMap((decision) => [from(decision), to(decision)]).filter(Number.isFinite);
  const latest = history.decisions.reduce((min, decision) => Math.min(min, to(decision)), Infinity);
  return {
    admitted,
    layers: layersOf(admitted),
    counted,
    refusals: refusals.map((decision) => ({
      decision,
      fromMs: from(decision),
      toMs: to(decision),
      countedBefore:
        Math.min(upTo(counted.earliest, to(decision)), upTo(sent, decision.inFlight.toMs)) -
        (mayCount.has(decision) ? 1 : 0),
      refusedBefore: upTo(refused, to(decision)) - (mayCount.has(decision) ? 1 : 0),
    })),
    startMs: instants.reduce((min, instant) => Math.min(min, instant), Infinity),
    endMs: instants.reduce((max, instant) => Math.max(max, instant), -Infinity),
    unknownUseUntilMs: history.priorUse === "nothing" ? -Infinity : latest,
  };
}

/**
 * Builds the layers. Earliest and latest instants are sorted apart, so one request with a wide span makes others less
 * precise. Each layer leaves out the widest spans of the layer before.
 */
function layersOf(admitted: readonly CountedSpan[]): Instants[] {
  const layers: Instants[] = [];
  let kept = admitted;
  while (kept.length > 0) {
    layers.push({ earliest: tallyOf(kept, (one) => one.fromMs), latest: tallyOf(kept, (one) => one.toMs) });
    const widest = kept.reduce((max, one) => Math.max(max, one.toMs - one.fromMs), 0);
    const narrower = kept.filter((one) => one.toMs - one.fromMs < widest / 2);
    if (widest <= 1 || narrower.length === 0) break;
    kept = narrower;
  }
  return layers;
}
