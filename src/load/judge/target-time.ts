import type { Span } from "../../rules/limits/admission/history.ts";

/**
 * The times of a response: `sentMs` and `headMs` by the client's clock, and `date`, the Unix second of its `Date`
 * header.
 */
export interface Dated {
  readonly sentMs: number;
  readonly headMs: number;
  readonly date: number | null;
}

/** The time of the target's clock, as computed from the `Date` headers of its responses. */
export interface TargetTime {
  /**
   * `steady`: the clock has one offset from the client's clock. `drifting`: the offset changes. `unknown`: there is no
   * `Date`, or the dates fit no clock of the expected speed.
   */
  readonly kind: "steady" | "drifting" | "unknown";
  /**
   * Returns the earliest and the latest possible time of the target's clock, in Unix ms, at a time of the client's
   * clock.
   */
  at(clientMs: number): Span;
  /**
   * Maximum error of a steady offset, in ms. This error is the same at all times, so the spans of `at` do not include
   * it.
   */
  readonly unknownMs: number;
}

/**
 * How many milliseconds the target's clock may be ahead of its `Date` header. The header is cut to whole seconds, and
 * servers often renew it only once a second.
 */
const minAheadMs = 0;
const maxAheadMs = 2000;
const parts = 32;

interface Bound {
  readonly clientMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Computes the offset of the target's clock.
 *
 * Each `Date` was correct at some time between sending and head, and so limits the offset. All responses together limit
 * it to a narrow span. If they contradict each other, the clock drifts: the run is then split into parts with a span
 * each.
 *
 * @param speed speed of the target's clock, as a multiple of the speed of this machine's clock
 */
export function targetTime(answers: Iterable<Dated>, speed: number): TargetTime {
  const bounds: Bound[] = [];
  for (const { sentMs, headMs, date } of answers) {
    if (date === null) continue;
    const dateMs = date * 1000;
    bounds.push({
      clientMs: sentMs,
      fromMs: dateMs + minAheadMs - speed * headMs,
      toMs: dateMs + maxAheadMs - speed * sentMs,
    });
  }
  const offset = commonOf(bounds);
  if (bounds.length === 0) return steady({ fromMs: 0, toMs: 0 }, speed, "unknown");
  if (offset !== null) return steady(offset, speed, "steady");
  return drifting(bounds, speed) ?? steady({ fromMs: 0, toMs: 0 }, speed, "unknown");
}

/** All judges tolerate a clock that lags behind by up to this many ms. */
const toleratedLagMs = 1000;

/**
 * Returns the time of a target whose clock sometimes lags behind by up to `lagMs`. The span of each instant is wider by
 * the lag.
 */
export function withLag(time: TargetTime, lagMs: number): TargetTime {
  if (lagMs <= toleratedLagMs) return time;
  return {
    kind: time.kind === "steady" ? "drifting" : time.kind,
    at: (clientMs) => {
      const { fromMs, toMs } = time.at(clientMs);
      return { fromMs: fromMs - lagMs, toMs: toMs + lagMs };
    },
    unknownMs: time.unknownMs,
  };
}

function steady({ fromMs, toMs }: Span, speed: number, kind: "steady" | "unknown"): TargetTime {
  const middleMs = (fromMs + toMs) / 2;
  return {
    kind,
    at: (clientMs) => ({ fromMs: speed * clientMs + middleMs, toMs: speed * clientMs + middleMs }),
    unknownMs: kind === "unknown" ? Infinity : (toMs - fromMs) / 2,
  };
}

function drifting(bounds: readonly Bound[], speed: number): TargetTime | null {
  const sorted = bounds.toSorted((a, b) => a.clientMs - b.clientMs);
  const size = Math.ceil(sorted.length / parts);
  const chunks = Array.from({ length: Math.ceil(sorted.length / size) }, (_, index) =>
    sorted.slice(index * size, (index + 1) * size),
  );
  const offsets: Span[] = [];
  for (const chunk of chunks) {
    const common = commonOf(chunk);
    if (common === null) return null;
    offsets.push(common);
  }
  const begins = chunks.map(([first]) => first?.clientMs ?? 0);
  return {
    kind: "drifting",
    at: (clientMs) => {
      const index = Math.max(
        0,
        begins.findLastIndex((ms) => ms <= clientMs),
      );
      // Between two parts, the offset of either part may be right.
      const adjacent = offsets.slice(Math.max(0, index - 1), index + 2);
      return {
        fromMs: speed * clientMs + Math.min(...adjacent.map(({ fromMs }) => fromMs)),
        toMs: speed * clientMs + Math.max(...adjacent.map(({ toMs }) => toMs)),
      };
    },
    unknownMs: 0,
  };
}

function commonOf(bounds: readonly Span[]): Span | null {
  let fromMs = -Infinity;
  let toMs = Infinity;
  for (const bound of bounds) {
    fromMs = Math.max(fromMs, bound.fromMs);
    toMs = Math.min(toMs, bound.toMs);
  }
  return fromMs <= toMs ? { fromMs, toMs } : null;
}
