import { isAdmitted, isRefused, type RequestSample, type Sample } from "../../../rules/limits/sample.ts";
import { parseRateLimitInfo, type RateLimitInfo, rateLimitInfoOf } from "../../../rules/limits/rate-limit-info.ts";
import { isObject } from "../../../base/json.ts";
import type { LoadEvidence } from "../../../evidence/load-evidence.ts";
import type { TierLimits } from "../../../spec/tiers.ts";
import type { ProbeEvidence } from "../../../evidence/evidence.ts";
import type { ChartPoint } from "../svg/line-chart.ts";

export interface LimiterSample extends RateLimitInfo {
  /** Time of the response by the target's clock, in ms. The zero is arbitrary: only differences have a meaning. */
  readonly atMs: number;
  readonly decision: "admitted" | "refused" | "other";
  /** Time from sending the request to the head of the response, by the harness's clock, in milliseconds. */
  readonly latencyMs: number;
}

export interface KeySamples {
  readonly name: string;
  readonly limits: TierLimits;
  readonly samples: readonly LimiterSample[];
}

interface SavedSample extends RateLimitInfo, Pick<Sample, "status" | "sentMs" | "headMs" | "headClockMs"> {
  readonly kind: unknown;
}

function toLimiterSamples(samples: readonly SavedSample[]): LimiterSample[] {
  return samples
    .filter(({ kind, status }) => kind !== "health" && status !== null)
    .map((sample) => limiterSampleOf(sample.headMs + sample.headClockMs, sample))
    .toSorted((one, other) => one.atMs - other.atMs);
}

export function limiterSamplesUnderLoad({ requests, flows, speed }: LoadEvidence, key: string): LimiterSample[] {
  const uncounted = new Set(flows.filter(({ operation }) => operation.kind === "health").map(({ name }) => name));
  return requests
    .filter((each) => each.key === key && each.status !== null && !uncounted.has(each.flow))
    .map((sample) => limiterSampleOf(sample.headMs * speed, sample))
    .toSorted((one, other) => one.atMs - other.atMs);
}

function limiterSampleOf(
  atMs: number,
  answer: RateLimitInfo & Pick<RequestSample, "status" | "sentMs" | "headMs">,
): LimiterSample {
  const decision = isAdmitted(answer) ? "admitted" : isRefused(answer) ? "refused" : "other";
  return { atMs, decision, ...rateLimitInfoOf(answer), latencyMs: answer.headMs - answer.sentMs };
}

export function keySamplesOf({ instance, result }: ProbeEvidence): KeySamples | null {
  if (result.kind !== "ran" || !isObject(result.evidence)) return null;
  const { limits, samples } = result.evidence;
  if (!isTierLimits(limits) || !Array.isArray(samples)) return null;
  const saved = samples.map(parseSample);
  const isValid = saved.every((each) => each !== null);
  return isValid ? { name: instance ?? "key", limits, samples: toLimiterSamples(saved) } : null;
}

const isTierLimits = (value: unknown): value is TierLimits =>
  isObject(value) && typeof value["perHour"] === "number" && typeof value["perMinute"] === "number";

function parseSample(value: unknown): SavedSample | null {
  if (!isObject(value)) return null;
  const rateLimitInfo = parseRateLimitInfo(value);
  const { kind, status, sentMs, headMs, headClockMs } = value;
  if (rateLimitInfo === null || (status !== null && !isNumber(status))) return null;
  return isNumber(sentMs) && isNumber(headMs) && isNumber(headClockMs)
    ? { ...rateLimitInfo, kind, status, sentMs, headMs, headClockMs }
    : null;
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** The number of admitted requests in the current rate-limit window, over time. */
interface WindowCounts {
  readonly shape: "rolling" | "fixed";
  /** A point after each change. `x` is the target's time in ms, `y` the number of admitted requests in the window. */
  readonly line: readonly ChartPoint[];
  /** One point for each refusal. `y` is the number of admitted requests in the window at the refusal. */
  readonly refusals: readonly ChartPoint[];
  readonly max: number;
}

/**
 * Counts admitted requests in a rolling window. If the count exceeds the limit, the limiter may use fixed windows:
 * then counts in fixed windows, if that gives a lower maximum.
 */
export function countInWindow(
  samples: readonly LimiterSample[],
  windowSeconds: number,
  published: number,
): WindowCounts {
  const rolling = countInRollingWindow(samples, windowSeconds * 1000);
  if (rolling.max <= published) return rolling;
  const fixed = countInFixedWindow(samples, windowSeconds, published);
  return fixed.max < rolling.max ? fixed : rolling;
}

function countInRollingWindow(samples: readonly LimiterSample[], windowMs: number): WindowCounts {
  const line: ChartPoint[] = [];
  const refusals: ChartPoint[] = [];
  const endTimes: number[] = [];
  let max = 0;
  let oldest = 0;
  const dropUntil = (atMs: number): void => {
    for (let end = endTimes[oldest]; end !== undefined && end <= atMs; end = endTimes[oldest]) {
      oldest += 1;
      line.push({ x: end, y: endTimes.length - oldest });
    }
  };
  for (const { atMs, decision } of samples) {
    dropUntil(atMs);
    if (line.length === 0) line.push({ x: atMs, y: 0 });
    if (decision === "refused") refusals.push({ x: atMs, y: endTimes.length - oldest });
    if (decision !== "admitted") continue;
    endTimes.push(atMs + windowMs);
    max = Math.max(max, endTimes.length - oldest);
    line.push({ x: atMs, y: endTimes.length - oldest });
  }
  return { shape: "rolling", line, refusals, max };
}

function countInFixedWindow(samples: readonly LimiterSample[], windowSeconds: number, published: number): WindowCounts {
  const windowOf = fixedWindowIndexer(samples, windowSeconds, published);
  const line: ChartPoint[] = [];
  const refusals: ChartPoint[] = [];
  let [count, max, current] = [0, 0, Number.NaN];
  for (const each of samples) {
    const window = windowOf(each);
    if (window !== current) {
      count = 0;
      current = window;
      line.push({ x: each.atMs, y: 0 });
    }
    if (each.decision === "refused") refusals.push({ x: each.atMs, y: count });
    if (each.decision !== "admitted") continue;
    count += 1;
    max = Math.max(max, count);
    line.push({ x: each.atMs, y: count });
  }
  return { shape: "fixed", line, refusals, max };
}

/**
 * Returns a function that gives a response the number of its fixed window. The number follows from the reset header or,
 * without a plausible one, from the time of the response.
 */
export function fixedWindowIndexer(
  samples: readonly LimiterSample[],
  windowSeconds: number,
  published: number,
): (each: LimiterSample) => number {
  const resetOf = ({ limit, reset, date }: LimiterSample): number | null => {
    const isOfWindow = limit === published && reset !== null && date !== null;
    return isOfWindow && reset >= date - 1 && reset <= date + windowSeconds + 1 ? reset : null;
  };
  const phase = mostFrequent(samples.map(resetOf).flatMap((reset) => (reset === null ? [] : [reset % windowSeconds])));
  let last = -Infinity;
  return (each) => {
    const reset = resetOf(each);
    const isEnd = reset !== null && reset % windowSeconds === phase;
    const window = isEnd
      ? (reset - phase) / windowSeconds - 1
      : Math.floor(((each.date ?? each.atMs / 1000) - phase) / windowSeconds);
    // The number never decreases: a late response of the previous window counts in the newer window.
    last = Math.max(last, window);
    return last;
  };
}

function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? 0;
}

export function downsample(points: readonly ChartPoint[], columns: number): ChartPoint[] {
  const [first, last] = [points[0]?.x ?? 0, points.at(-1)?.x ?? 0];
  const width = Math.max(last - first, 1e-9) / columns;
  const kept: ChartPoint[] = [];
  for (const members of Map.groupBy(points, ({ x }) => Math.floor((x - first) / width)).values()) {
    const heights = members.map(({ y }) => y);
    const [low, high] = [
      heights.indexOf(heights.reduce((a, b) => Math.min(a, b))),
      heights.indexOf(heights.reduce((a, b) => Math.max(a, b))),
    ];
    const indexes = [...new Set([0, low, high, members.length - 1])].toSorted((one, other) => one - other);
    kept.push(...indexes.flatMap((at) => members[at] ?? []));
  }
  return kept.filter((point, at) => point.y !== kept[at - 1]?.y || point.y !== kept[at + 1]?.y);
}
