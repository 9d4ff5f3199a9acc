import { isAdmitted, isRefused, type RequestSample, type Sample } from "../../../rules/limits/sample.ts";
import { parseRateLimitInfo, type RateLimitInfo, rateLimitInfoOf } from "../../../rules/limits/rate-limit-info.ts";
import type { LoadEvidence } from "../../../load/load-evidence.ts";
import type { TierLimits } from "../../../spec/tiers.ts";
import type { ProbeEvidence } from "../../../evidence/evidence.ts";
import type { ChartPoint } from "../svg/line-chart.ts";

/** What a limiter showed in one answer, on the target's own clock. */
export interface LimiterSample extends RateLimitInfo {
  /** Milliseconds of the target's time; only differences mean something. */
  readonly atMs: number;
  readonly decision: "admitted" | "refused" | "other";
  /** From sending to the head of the answer, on the harness's clock. */
  readonly latencyMs: number;
}

/** What one key was sent, and which numbers it is held to. */
export interface KeySamples {
  /** Tier, or the key's role. */
  readonly name: string;
  readonly limits: TierLimits;
  readonly seen: readonly LimiterSample[];
}

/** As much of a kept sample as a page shows. */
interface KeptSample extends RateLimitInfo, Pick<Sample, "status" | "sentMs" | "headMs" | "headClockMs"> {
  readonly kind: unknown;
}

/** Health does not count, so it is no part of what a limiter admitted. */
function seenOfSamples(samples: readonly KeptSample[]): LimiterSample[] {
  return samples
    .filter(({ kind, status }) => kind !== "health" && status !== null)
    .map((sample) => seenAt(sample.headMs + sample.headClockMs, sample))
    .toSorted((one, other) => one.atMs - other.atMs);
}

/** The requests of one key under load; health does not count. */
export function loadSamples({ requests, flows, speed }: LoadEvidence, key: string): LimiterSample[] {
  const uncounted = new Set(flows.filter(({ operation }) => operation.kind === "health").map(({ name }) => name));
  return requests
    .filter((each) => each.key === key && each.status !== null && !uncounted.has(each.flow))
    .map((sample) => seenAt(sample.headMs * speed, sample))
    .toSorted((one, other) => one.atMs - other.atMs);
}

function seenAt(
  atMs: number,
  answer: RateLimitInfo & Pick<RequestSample, "status" | "sentMs" | "headMs">,
): LimiterSample {
  const decision = isAdmitted(answer) ? "admitted" : isRefused(answer) ? "refused" : "other";
  return { atMs, decision, ...rateLimitInfoOf(answer), latencyMs: answer.headMs - answer.sentMs };
}

/** The samples of a probe that uses up a tier's allowance, where that is what the evidence holds. */
export function keySamplesOf({ instance, result }: ProbeEvidence): KeySamples | null {
  if (result.kind !== "ran" || !isObject(result.evidence)) return null;
  const { limits, samples } = result.evidence;
  if (!isLimits(limits) || !Array.isArray(samples)) return null;
  const kept = samples.map(keptSample);
  const isAllKept = kept.every((each) => each !== null);
  return isAllKept ? { name: instance ?? "key", limits, seen: seenOfSamples(kept) } : null;
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null;

const isLimits = (value: unknown): value is TierLimits =>
  isObject(value) && typeof value["perHour"] === "number" && typeof value["perMinute"] === "number";

/** Evidence of a probe is kept as unknown JSON, and may be of another version or made by hand; `null` for what is no sample. */
function keptSample(value: unknown): KeptSample | null {
  if (!isObject(value)) return null;
  const shown = parseRateLimitInfo(value);
  const { kind, status, sentMs, headMs, headClockMs } = value;
  if (shown === null || (status !== null && !isNumber(status))) return null;
  return isNumber(sentMs) && isNumber(headMs) && isNumber(headClockMs)
    ? { ...shown, kind, status, sentMs, headMs, headClockMs }
    : null;
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** How many were admitted, as a limiter with one kind of window would count them. */
export interface CountedWindow {
  readonly shape: "rolling" | "fixed";
  /** Admitted within the window, after each change. `x` in milliseconds of the target's time. */
  readonly line: readonly ChartPoint[];
  /** Each refusal, at the height of what had been admitted. */
  readonly refusals: readonly ChartPoint[];
  readonly most: number;
}

/**
 * Counts what was admitted within a window of so many seconds: over the last so many where that never goes beyond what is published, and otherwise
 * in windows with fixed ends, as the reset header tells them, where that fits better.
 */
export function countedWithin(seen: readonly LimiterSample[], windowSeconds: number, published: number): CountedWindow {
  const rolling = rollingCount(seen, windowSeconds * 1000);
  if (rolling.most <= published) return rolling;
  const fixed = fixedCount(seen, windowSeconds, published);
  return fixed.most < rolling.most ? fixed : rolling;
}

function rollingCount(seen: readonly LimiterSample[], windowMs: number): CountedWindow {
  const line: ChartPoint[] = [];
  const refusals: ChartPoint[] = [];
  const within: number[] = [];
  let most = 0;
  let oldest = 0;
  const dropUntil = (atMs: number): void => {
    for (let end = within[oldest]; end !== undefined && end <= atMs; end = within[oldest]) {
      oldest += 1;
      line.push({ x: end, y: within.length - oldest });
    }
  };
  for (const { atMs, decision } of seen) {
    dropUntil(atMs);
    if (line.length === 0) line.push({ x: atMs, y: 0 });
    if (decision === "refused") refusals.push({ x: atMs, y: within.length - oldest });
    if (decision !== "admitted") continue;
    within.push(atMs + windowMs);
    most = Math.max(most, within.length - oldest);
    line.push({ x: atMs, y: within.length - oldest });
  }
  return { shape: "rolling", line, refusals, most };
}

function fixedCount(seen: readonly LimiterSample[], windowSeconds: number, published: number): CountedWindow {
  const windowOf = windowsOf(seen, windowSeconds, published);
  const line: ChartPoint[] = [];
  const refusals: ChartPoint[] = [];
  let [count, most, current] = [0, 0, Number.NaN];
  for (const each of seen) {
    const window = windowOf(each);
    if (window !== current) {
      count = 0;
      current = window;
      line.push({ x: each.atMs, y: 0 });
    }
    if (each.decision === "refused") refusals.push({ x: each.atMs, y: count });
    if (each.decision !== "admitted") continue;
    count += 1;
    most = Math.max(most, count);
    line.push({ x: each.atMs, y: count });
  }
  return { shape: "fixed", line, refusals, most };
}

/** Number of the fixed window that an answer fell into: by its reset where its headers speak of this window, else by its date. */
export function windowsOf(
  seen: readonly LimiterSample[],
  windowSeconds: number,
  published: number,
): (each: LimiterSample) => number {
  const resetOf = ({ limit, reset, date }: LimiterSample): number | null => {
    const isOfWindow = limit === published && reset !== null && date !== null;
    return isOfWindow && reset >= date - 1 && reset <= date + windowSeconds + 1 ? reset : null;
  };
  const phase = modeOf(seen.map(resetOf).flatMap((reset) => (reset === null ? [] : [reset % windowSeconds])));
  let last = -Infinity;
  return (each) => {
    const reset = resetOf(each);
    const isEnd = reset !== null && reset % windowSeconds === phase;
    const window = isEnd
      ? (reset - phase) / windowSeconds - 1
      : Math.floor(((each.date ?? each.atMs / 1000) - phase) / windowSeconds);
    // Answers overtake each other; a window that is over does not come back.
    last = Math.max(last, window);
    return last;
  };
}

function modeOf(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? 0;
}

/** The same line with no more points than a drawing of so many columns can show: of each column its first, least, highest and last. */
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
