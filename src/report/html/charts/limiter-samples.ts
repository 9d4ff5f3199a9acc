import { isAdmitted, isRefused, type RequestSample, type Sample } from "../../../rules/limits/sample.ts";
import { parseRateLimitInfo, type RateLimitInfo, rateLimitInfoOf } from "../../../rules/limits/rate-limit-info.ts";
import type { LoadEvidence } from "../../../evidence/load-evidence.ts";
import type { TierLimits } from "../../../spec/tiers.ts";
import type { ProbeEvidence } from "../../../evidence/evidence.ts";
import type { ChartPoint } from "../svg/line-chart.ts";

/** A response: when it arrived by the target's clock, whether the request was admitted, and the numbers in its rate-limit headers. */
export interface LimiterSample extends RateLimitInfo {
  /** Time of the response in milliseconds, by the target's clock. Only differences between these times have a meaning. */
  readonly atMs: number;
  readonly decision: "admitted" | "refused" | "other";
  /** Time from sending to the head of the response, on the harness's clock. */
  readonly latencyMs: number;
}

/** The samples of one key, and its published limits. */
export interface KeySamples {
  /** Name for the chart: the tier; under load, also the key. */
  readonly name: string;
  readonly limits: TierLimits;
  readonly samples: readonly LimiterSample[];
}

/** The fields of a saved sample that a page shows. */
interface SavedSample extends RateLimitInfo, Pick<Sample, "status" | "sentMs" | "headMs" | "headClockMs"> {
  readonly kind: unknown;
}

/** Samples of the requests that count against a limit. Health checks do not count. */
function countedSamples(samples: readonly SavedSample[]): LimiterSample[] {
  return samples
    .filter(({ kind, status }) => kind !== "health" && status !== null)
    .map((sample) => sampleAt(sample.headMs + sample.headClockMs, sample))
    .toSorted((one, other) => one.atMs - other.atMs);
}

/** The samples of one key under load, without health checks. */
export function loadSamples({ requests, flows, speed }: LoadEvidence, key: string): LimiterSample[] {
  const uncounted = new Set(flows.filter(({ operation }) => operation.kind === "health").map(({ name }) => name));
  return requests
    .filter((each) => each.key === key && each.status !== null && !uncounted.has(each.flow))
    .map((sample) => sampleAt(sample.headMs * speed, sample))
    .toSorted((one, other) => one.atMs - other.atMs);
}

function sampleAt(
  atMs: number,
  answer: RateLimitInfo & Pick<RequestSample, "status" | "sentMs" | "headMs">,
): LimiterSample {
  const decision = isAdmitted(answer) ? "admitted" : isRefused(answer) ? "refused" : "other";
  return { atMs, decision, ...rateLimitInfoOf(answer), latencyMs: answer.headMs - answer.sentMs };
}

/** The samples of a probe that uses up a tier's allowance; `null` for any other evidence. */
export function keySamplesOf({ instance, result }: ProbeEvidence): KeySamples | null {
  if (result.kind !== "ran" || !isObject(result.evidence)) return null;
  const { limits, samples } = result.evidence;
  if (!isLimits(limits) || !Array.isArray(samples)) return null;
  const saved = samples.map(parseSample);
  const isValid = saved.every((each) => each !== null);
  return isValid ? { name: instance ?? "key", limits, samples: countedSamples(saved) } : null;
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null;

const isLimits = (value: unknown): value is TierLimits =>
  isObject(value) && typeof value["perHour"] === "number" && typeof value["perMinute"] === "number";

/** Parses a sample of saved evidence, which may be of another version or edited by hand; `null` if it is no sample. */
function parseSample(value: unknown): SavedSample | null {
  if (!isObject(value)) return null;
  const shown = parseRateLimitInfo(value);
  const { kind, status, sentMs, headMs, headClockMs } = value;
  if (shown === null || (status !== null && !isNumber(status))) return null;
  return isNumber(sentMs) && isNumber(headMs) && isNumber(headClockMs)
    ? { ...shown, kind, status, sentMs, headMs, headClockMs }
    : null;
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** Admitted requests, counted in rolling or in fixed windows, as a rate limiter would count them. */
export interface WindowCounts {
  readonly shape: "rolling" | "fixed";
  /**
   * The line of the chart: the number of admitted requests in the window, after each change. `x` is in milliseconds of the target's time.
   */
  readonly line: readonly ChartPoint[];
  /** Each refusal, at the number of requests admitted before it. */
  readonly refusals: readonly ChartPoint[];
  /** The largest number of admitted requests in any window. */
  readonly max: number;
}

/**
 * Counts admitted requests within a rolling window. If the count exceeds the published limit, also counts in fixed
 * windows that end at the times of the reset header, and returns that count if it is lower.
 */
export function countInWindow(
  samples: readonly LimiterSample[],
  windowSeconds: number,
  published: number,
): WindowCounts {
  const rolling = rollingCount(samples, windowSeconds * 1000);
  if (rolling.max <= published) return rolling;
  const fixed = fixedCount(samples, windowSeconds, published);
  return fixed.max < rolling.max ? fixed : rolling;
}

function rollingCount(samples: readonly LimiterSample[], windowMs: number): WindowCounts {
  const line: ChartPoint[] = [];
  const refusals: ChartPoint[] = [];
  const within: number[] = [];
  let max = 0;
  let oldest = 0;
  const dropUntil = (atMs: number): void => {
    for (let end = within[oldest]; end !== undefined && end <= atMs; end = within[oldest]) {
      oldest += 1;
      line.push({ x: end, y: within.length - oldest });
    }
  };
  for (const { atMs, decision } of samples) {
    dropUntil(atMs);
    if (line.length === 0) line.push({ x: atMs, y: 0 });
    if (decision === "refused") refusals.push({ x: atMs, y: within.length - oldest });
    if (decision !== "admitted") continue;
    within.push(atMs + windowMs);
    max = Math.max(max, within.length - oldest);
    line.push({ x: atMs, y: within.length - oldest });
  }
  return { shape: "rolling", line, refusals, max };
}

function fixedCount(samples: readonly LimiterSample[], windowSeconds: number, published: number): WindowCounts {
  const windowOf = windowsOf(samples, windowSeconds, published);
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
 * Returns a function that finds the fixed window of a sample, as an index. The sample's reset header decides if it fits windows of this
 * length; otherwise the date of the response does.
 */
export function windowsOf(
  samples: readonly LimiterSample[],
  windowSeconds: number,
  published: number,
): (each: LimiterSample) => number {
  const resetOf = ({ limit, reset, date }: LimiterSample): number | null => {
    const isOfWindow = limit === published && reset !== null && date !== null;
    return isOfWindow && reset >= date - 1 && reset <= date + windowSeconds + 1 ? reset : null;
  };
  const phase = modeOf(samples.map(resetOf).flatMap((reset) => (reset === null ? [] : [reset % windowSeconds])));
  let last = -Infinity;
  return (each) => {
    const reset = resetOf(each);
    const isEnd = reset !== null && reset % windowSeconds === phase;
    const window = isEnd
      ? (reset - phase) / windowSeconds - 1
      : Math.floor(((each.date ?? each.atMs / 1000) - phase) / windowSeconds);
    // Responses may arrive out of order, but the windows are passed in order.
    last = Math.max(last, window);
    return last;
  };
}

function modeOf(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? 0;
}

/** Reduces a line to the points that a chart of this many columns can show: the first, lowest, highest and last of each column. */
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
