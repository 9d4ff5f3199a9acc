import type { Span } from "../../rules/limits/admission/history.ts";

/** Times of a response by the client's clock, and the Unix second of its `Date`; `null` without one. */
export interface DatedResponse {
  readonly sentMs: number;
  readonly headMs: number;
  readonly date: number | null;
}

/** The time of the target's clock, as computed from the `Date` headers of its responses. */
export interface TargetTime {
  /**
   * `steady`: the clock has one offset from the client's clock. `drifting`: the offset changes. `unknown`: no response
   * has a `Date`, or the dates do not fit a clock of the expected speed.
   */
  readonly kind: "steady" | "drifting" | "unknown";
  /**
   * Returns the earliest and the latest time that the target's clock may show, in Unix ms, when the client's clock
   * shows `clientMs`.
   */
  at(clientMs: number): Span;
  /**
   * Maximum error of a steady offset, in ms. {@link TargetTime.at} does not include this error, because it is the same
   * at all times.
   */
  readonly unknownMs: number;
}

/**
 * Minimum and maximum time by which a target's clock may be ahead of its `Date`. The header has whole seconds, and some
 * servers compute it only once a second.
 */
const minAheadMs = 0;
const maxAheadMs = 2000;
const maxParts = 32;

interface OffsetBound {
  readonly clientMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Computes the offset of the target's clock from the client's. Each `Date` was right at some time between sending the
 * request and receiving the head, which limits the possible offsets.
 * If one offset fits all responses, the clock is steady. If none does, the clock drifts, and each part of the load gets
 * an offset of its own.
 *
 * @param speed speed of the target's clock, as a multiple of the speed of this machine's clock
 */
export function targetTime(answers: Iterable<DatedResponse>, speed: number): TargetTime {
  const bounds: OffsetBound[] = [];
  for (const { sentMs, headMs, date } of answers) {
    if (date === null) continue;
    const dateMs = date * 1000;
    bounds.push({
      clientMs: sentMs,
      fromMs: dateMs + minAheadMs - speed * headMs,
      toMs: dateMs + maxAheadMs - speed * sentMs,
    });
  }
  const offset = intersectionOf(bounds);
  if (bounds.length === 0) return steadyTime({ fromMs: 0, toMs: 0 }, speed, "unknown");
  if (offset !== null) return steadyTime(offset, speed, "steady");
  return driftingTime(bounds, speed) ?? steadyTime({ fromMs: 0, toMs: 0 }, speed, "unknown");
}

/** Every judge tolerates a clock lag up to this many ms. */
const toleratedLagMs = 1000;

/** Returns the time of a target whose clock sometimes lags by up to `lagMs`. Each span is wider by the lag. */
export function withClockLag(time: TargetTime, lagMs: number): TargetTime {
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

function steadyTime({ fromMs, toMs }: Span, speed: number, kind: "steady" | "unknown"): TargetTime {
  const middleMs = (fromMs + toMs) / 2;
  return {
    kind,
    at: (clientMs) => ({ fromMs: speed * clientMs + middleMs, toMs: speed * clientMs + middleMs }),
    unknownMs: kind === "unknown" ? Infinity : (toMs - fromMs) / 2,
  };
}

function driftingTime(bounds: readonly OffsetBound[], speed: number): TargetTime | null {
  const sorted = bounds.toSorted((a, b) => a.clientMs - b.clientMs);
  const size = Math.ceil(sorted.length / maxParts);
  const chunks = Array.from({ length: Math.ceil(sorted.length / size) }, (_, index) =>
    sorted.slice(index * size, (index + 1) * size),
  );
  const offsets: Span[] = [];
  for (const chunk of chunks) {
    const common = intersectionOf(chunk);
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
      // The offset changes at an unknown time. So the offset of this part of the load may apply, or that of the part
      // before or after it.
      const adjacent = offsets.slice(Math.max(0, index - 1), index + 2);
      return {
        fromMs: speed * clientMs + Math.min(...adjacent.map(({ fromMs }) => fromMs)),
        toMs: speed * clientMs + Math.max(...adjacent.map(({ toMs }) => toMs)),
      };
    },
    unknownMs: 0,
  };
}

function intersectionOf(bounds: readonly Span[]): Span | null {
  let fromMs = -Infinity;
  let toMs = Infinity;
  for (const bound of bounds) {
    fromMs = Math.max(fromMs, bound.fromMs);
    toMs = Math.min(toMs, bound.toMs);
  }
  return fromMs <= toMs ? { fromMs, toMs } : null;
}
