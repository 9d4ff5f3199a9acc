import { duration } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";

/** Whether a target answers the same requests later and later. */
export interface SlowdownDetector {
  readonly observe: (exchange: Exchange) => void;
  /** Now, by its latest answers. */
  readonly isSlow: () => boolean;
  /** To be told of a request that stayed without an answer in time, also when it was sent again. */
  readonly countUnanswered: () => void;
  /** What that cost, in one sentence with figures; `null` where nothing was given up, or the target has not slowed down. */
  readonly unjudged: () => string | null;
}

interface Series {
  /** Times of the first answers and of the latest, in milliseconds. */
  readonly first: number[];
  readonly latest: number[];
}

/** So many answers tell how fast a path is; each path is compared with itself alone, since agents differ. */
const told = 3;
/** Slow is what takes so many times as long as at first, and so long at least: a busy second is no sign. */
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
