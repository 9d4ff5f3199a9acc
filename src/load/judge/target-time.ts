import type { Span } from "../../rules/limits/admission/history.ts";

/** `date`: the response's `Date` header as Unix time in seconds; `null` without this header. */
export interface DatedResponse {
  readonly sentMs: number;
  readonly headMs: number;
  readonly date: number | null;
}

/** The time of the target's clock, as computed from the `Date` headers of its responses. */
export interface TargetTime {
  /**
   * `steady`: constant offset from the client's clock. `drifting`: changing offset. `unknown`: no usable `Date` header.
   */
  readonly kind: "steady" | "drifting" | "unknown";
  /** Returns the earliest and latest time, in Unix ms, that the target's clock may show at `clientMs`. */
  at(clientMs: number): Span;
  /** The true time may lie up to this many ms outside the span of {@link TargetTime.at}. */
  readonly unknownMs: number;
}

/** How far the target's clock may be ahead of its `Date` header. The header may be rounded or cached. */
const minAheadMs = 0;
const maxAheadMs = 2000;
const maxParts = 32;

interface OffsetBound {
  readonly clientMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Computes the offset of the target's clock from the client's, by the `Date` headers of responses. */
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

/** Widens each time span by `lagMs`, for a target whose clock sometimes lags. */
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
      // The exact time at which the clock offset changed is unknown. Therefore, the previous or next offset can also be
      // right.
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
