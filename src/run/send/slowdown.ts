import { formatDuration } from "../../base/duration.ts";
import { median } from "../../base/statistics/quantile.ts";
import type { Exchange } from "../../evidence/exchange.ts";

/** Number of response times in each compared group: the first and the latest. */
const comparedResponses = 3;
/** A target is slow if its response times grow by this factor, to at least `minSlowMs`. */
const slowdownFactor = 8;
const minSlowMs = 1000;

export type SlowdownDetector = ReturnType<typeof createSlowdownDetector>;

export function createSlowdownDetector() {
  /** First and latest response times of each path, in milliseconds. */
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
    if (series.first.length < comparedResponses && !hasTimedOut) return void series.first.push(tookMs);
    series.latest.push(tookMs);
    if (series.latest.length > comparedResponses) series.latest.shift();
    if (series.first.length < comparedResponses || series.latest.length < comparedResponses) return;
    const [firstMs, nowMs] = [median(series.first), median(series.latest)];
    isSlow = nowMs >= minSlowMs && nowMs >= slowdownFactor * firstMs;
    if (isSlow)
      figures = `responses took ${formatDuration(Math.round(firstMs))} at first and ${formatDuration(Math.round(nowMs))} after ${responses} requests`;
  };

  return {
    observe,
    isSlow: (): boolean => isSlow,
    countUnanswered: (): void => {
      unanswered += 1;
    },
    describeUnanswered: (): string | null =>
      figures === null || unanswered === 0
        ? null
        : `the target slowed down: ${figures}; ${unanswered === 1 ? "one request was" : `${unanswered} requests were`} without a response in time, even when sent again`,
  };
}
