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
   * What the slowdown cost, in one sentence with figures. `null` if the target was not slow, or every request got a
   * response.
   */
  readonly unjudged: () => string | null;
}

interface Series {
  /** Response times of the first and of the latest requests, in milliseconds. */
  readonly first: number[];
  readonly latest: number[];
}

/** Response times to compare. Each path is compared only with itself, because agents differ. */
const told = 3;
/**
 * A path counts as slow if its responses take this many times as long as at first, and at least `slowMs`. A busy
 * second is not enough.
 */
const slowerTimes = 8;
const slowMs = 1000;

export function createSlowdownDetector(): SlowdownDetector {
  const paths = new Map<string, Series>();
  let [answers, given] = [0, 0];
  let figures: string | null = null;
  let isSlow = false;

  const observe = ({ request, answer, sentMs }: Exchange): void => {
    answers += 1;
    const isHung = answer.kind === "unanswered" && answer.reason === "silent";
    if (answer.kind === "unanswered" && !isHung) return;
    const path = `${request.method} ${request.url.replace(/[?].*/s, "")}`;
    const series = paths.get(path) ?? { first: [], latest: [] };
    paths.set(path, series);
    const tookMs = (answer.kind === "answered" ? answer.headMs : answer.endMs) - sentMs;
    if (series.first.length < told && !isHung) return void series.first.push(tookMs);
    series.latest.push(tookMs);
    if (series.latest.length > told) series.latest.shift();
    if (series.first.length < told || series.latest.length < told) return;
    const [atFirstMs, nowMs] = [median(series.first), median(series.latest)];
    isSlow = nowMs >= slowMs && nowMs >= slowerTimes * atFirstMs;
    if (isSlow)
      figures = `answers took ${duration(Math.round(atFirstMs))} at first and ${duration(Math.round(nowMs))} after ${answers} requests`;
  };

  return {
    observe,
    isSlow: () => isSlow,
    countUnanswered: () => {
      given += 1;
    },
    unjudged: () =>
      figures === null || given === 0
        ? null
        : `the target slowed down: ${figures}; ${given === 1 ? "one request was" : `${given} requests were`} not answered in time, and not when sent again`,
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
