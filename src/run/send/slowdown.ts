import { formatDuration } from "../../base/duration.ts";
import { median } from "../../base/statistics/quantile.ts";
import type { Exchange } from "../../evidence/exchange.ts";

/**
 * Number of response times to compare. The times of each path are compared only with each other, because agents differ.
 */
const sampleSize = 3;
/**
 * A path counts as slow if its responses take this many times as long as at first, and at least `minSlowMs`. One busy
 * second does not count.
 */
const slowdownFactor = 8;
const minSlowMs = 1000;

export type SlowdownDetector = ReturnType<typeof createSlowdownDetector>;

/** Detects a target that takes longer and longer to answer the same requests. */
export function createSlowdownDetector() {
  /** Times of the first and of the latest responses of each path, in milliseconds. */
  const paths = new Map<string, { readonly first: number[]; readonly latest: number[] }>();
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
      figures = `responses took ${formatDuration(Math.round(firstMs))} at first and ${formatDuration(Math.round(nowMs))} after ${responses} requests`;
  };

  return {
    observe,
    /** Whether the latest responses were slow. */
    isSlow: (): boolean => isSlow,
    /** Counts a request that got no response in time, even if a retry succeeds. */
    countUnanswered: (): void => {
      unanswered += 1;
    },
    /** Describes the requests without a response. `null` if there are none, or the target was not slow. */
    describeUnanswered: (): string | null =>
      figures === null || unanswered === 0
        ? null
        : `the target slowed down: ${figures}; ${unanswered === 1 ? "one request was" : `${unanswered} requests were`} without a response in time, even when sent again`,
  };
}
