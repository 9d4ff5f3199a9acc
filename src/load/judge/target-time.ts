import type { Span } from "../../rules/limits/admission/history.ts";

/** One answer as far as it tells the target's time: client's ms, and the Unix second of its `Date`. */
export interface Dated {
  readonly sentMs: number;
  readonly headMs: number;
  readonly date: number | null;
}

/** The target's time, as far as its answers tell it. */
export interface TargetTime {
  /** `steady`: one offset suits all answers; `drifting`: it changes over the run; `unknown`: no `Date`, or one that follows no clock of this speed. */
  readonly kind: "steady" | "drifting" | "unknown";
  /** Unix ms of the target, for an instant of ours: from the earliest possible to the latest. */
  at(clientMs: number): Span;
  /** Half the width of what remains unknown of a steady offset; spans leave it out, for it is the same for all of them. In ms. */
  readonly unknownMs: number;
}

/** A `Date` is cut to whole seconds, and many servers renew it once a second. */
const leastAheadMs = 0;
const mostAheadMs = 2000;
const parts = 32;

interface Bound {
  readonly clientMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Each answer bounds the offset of the target's clock: its `Date` was true at some instant between sending and head. All bounds
 * together leave a span, narrower than any of them; where they leave none, the run is cut into parts that have a span each.
 * @param speed ms of the target in one of ours
 */
export function targetTime(answers: Iterable<Dated>, speed: number): TargetTime {
  const bounds: Bound[] = [];
  for (const { sentMs, headMs, date } of answers) {
    if (date === null) continue;
    const toldMs = date * 1000;
    bounds.push({
      clientMs: sentMs,
      fromMs: toldMs + leastAheadMs - speed * headMs,
      toMs: toldMs + mostAheadMs - speed * sentMs,
    });
  }
  const offset = commonOf(bounds);
  if (bounds.length === 0) return steady({ fromMs: 0, toMs: 0 }, speed, "unknown");
  if (offset !== null) return steady(offset, speed, "steady");
  return drifting(bounds, speed) ?? steady({ fromMs: 0, toMs: 0 }, speed, "unknown");
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
      // Between two parts, either may hold.
      const near = offsets.slice(Math.max(0, index - 1), index + 2);
      return {
        fromMs: speed * clientMs + Math.min(...near.map(({ fromMs }) => fromMs)),
        toMs: speed * clientMs + Math.max(...near.map(({ toMs }) => toMs)),
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
