import type { Span } from "../../rules/limits/admission/history.ts";

/** The times of a response. `date`: the `Date` header in Unix seconds; `null` without this header. */
export interface DatedResponse {
  readonly sentMs: number;
  readonly headMs: number;
  readonly date: number | null;
}

/** Converts times of the client's clock to the target's clock, by the `Date` headers of the target's responses. */
export interface TargetTime {
  /** `steady`: the clocks differ by a constant. `drifting`: the difference changes. `unknown`: no usable `Date`. */
  readonly kind: "steady" | "drifting" | "unknown";
  /** Returns the earliest and latest time, in Unix ms, that the target's clock may show at `clientMs`. */
  at(clientMs: number): Span;
  /** Maximum error of {@link TargetTime.at}, in ms: the true time may lie this far outside the returned span. */
  readonly unknownMs: number;
}

/** The target's clock is 0 to 2 s ahead of a `Date` header, which shows whole seconds and may be a second old. */
const minAheadMs = 0;
const maxAheadMs = 2000;
const maxChunks = 32;

interface OffsetBound {
  readonly clientMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Derives the target's time from `Date` headers. The target's clock runs `speed` times as fast as the client's. */
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

/** Maximum lag of the target's clock, in ms, that needs no wider spans: the judges of limits tolerate a second. */
const toleratedLagMs = 1000;

/** Widens the spans of `time` by `lagMs`: a test clock that the harness advances can lag behind real time. */
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
  const size = Math.ceil(sorted.length / maxChunks);
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
      // The offset changed at an unknown time. So the offset of the previous or the next chunk may apply instead.
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
