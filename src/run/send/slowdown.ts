import { duration } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";

/** Detects a target that responds more and more slowly to the same requests. */
export interface SlowdownDetector {
  readonly observe: (exchange: Exchange) => void;
  /** Whether the latest responses were slow. */
  readonly isSlow: () => boolean;
  /** Counts a request that got no response in time, even when it was sent again. */
  readonly countUnanswered: () => void;
  /**
   * Describes the requests without a response, with figures. `null` if there are none, or the target was not slow.
   */
  readonly describeUnanswered: () => string | null;
}

interface Series {
  /** Response times of the first and of the latest requests, in milliseconds. */
  readonly first: number[];
  readonly latest: number[];
}

/** Response times to compare. Each path is compared only with itself, because agents differ. */
const sampleSize = 3;
/**
 * A path counts as slow if its responses take this many times as long as at first, and at least `minSlowMs`. A busy
 * second is not enough.
 */
const slowdownFactor = 8;
const minSlowMs = 1000;

export function createSlowdownDetector(): SlowdownDetector {
  const paths = new Map<string, Series>();
  let [responses, unanswered] = [0, 0];
  let figures: string | null = null;
  let isSlow = false;

  const observe = ({ request, answer, sentMs }: Exchange): void => {
    responses += 1;
    const hasTimedOut = answer.kind === "unanswered" && answer.reason === "silent";
    if (answer.kind === "unanswered" && !hasTimedOut) return;
    const path = `${request.method} ${request.url.replace(/[?].*/s, "")}`;
    const series = paths.get(path) ?? { first: [], latest: [] };
    paths.set(path, series);
    const tookMs = (answer.kind === "answered" ? answer.headMs : answer.endMs) - sentMs;
    if (series.first.length < sampleSize && !hasTimedOut) return void series.first.push(tookMs);
    series.latest.push(tookMs);
    if (series.latest.length > sampleSize) series.latest.shift();
    if (series.first.length < sampleSize || series.latest.length < sampleSize) return;
    const [firstMs, nowMs] = [median(series.first), median(series.latest)];
    isSlow = nowMs >= minSlowMs && nowMs >= slowdownFactor * firstMs;
    if (isSlow)
      figures = `responses took ${duration(Math.round(firstMs))} at first and ${duration(Math.round(nowMs))} after ${responses} requests`;
  };

  return {
    observe,
    isSlow: () => isSlow,
    countUnanswered: () => {
      unanswered += 1;
    },
    describeUnanswered: () =>
      figures === null || unanswered === 0
        ? null
        : `the target slowed down: ${figures}; ${unanswered === 1 ? "one request was" : `${unanswered} requests were`} without a response in time, even when sent again`,
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
