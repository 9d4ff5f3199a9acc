import { formatDuration, minuteMs } from "../../base/duration.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { type PublishedTier, publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import type { TargetKey } from "../../target/target.ts";
import { tierOfWindow } from "../plan/key-limits.ts";
import type { RunClock } from "../time/run-clock.ts";
import { median } from "../../base/statistics/samples.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { getOrAdd } from "../../base/memoize.ts";
import { hasTimedOut } from "./retry.ts";

/** Number of response times in each of two medians to compare: of a path's first 3 and of its latest 3 responses. */
const comparedResponses = 3;
/** A target is slow if the median response time of a path grows by this factor, to at least `minSlowMs`. */
const slowdownFactor = 8;
const minSlowMs = 1000;

type SlowdownDetector = ReturnType<typeof createSlowdownDetector>;

export function createSlowdownDetector() {
  /** First and latest response times of each path, in milliseconds. */
  const timesByPath = new Map<string, { readonly first: number[]; readonly latest: number[] }>();
  let [responses, unanswered] = [0, 0];
  let figures: string | null = null;
  let isSlow = false;

  const observe = ({ request, answer, sentMs }: Exchange): void => {
    responses += 1;
    const isTimeout = hasTimedOut({ answer });
    if (answer.kind === "unanswered" && !isTimeout) return;
    const path = `${request.method} ${request.url.replace(/[?].*/s, "")}`;
    const series = getOrAdd(timesByPath, path, () => ({ first: [], latest: [] }));
    const tookMs = (answer.kind === "answered" ? answer.headMs : answer.endMs) - sentMs;
    if (series.first.length < comparedResponses && !isTimeout) return void series.first.push(tookMs);
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

/** Delays requests so that each key stays below its limits. Probes that test limits send without the pacer. */
export interface Pacer {
  /** Detects a slow target, which then gets only one request at a time for each key. */
  readonly slowdown: SlowdownDetector;
  /** Waits until the key may send, or throws `WaitRefused`. Returns a function to call after the response. */
  readonly acquire: (key: TargetKey) => Promise<() => void>;
  /** Updates the pacer's data on a key, e.g. its remaining requests. Must be called for each response. */
  readonly observe: (key: TargetKey, sample: Sample) => void;
  /** Waits until the target has probably freed a concurrency slot. Returns at once if `hasLostSlots(key)`. */
  readonly awaitSlot: (key: TargetKey) => Promise<void>;
  /** Whether the target seems never to free the key's slots: during 75 waits (30 s), each response was 429. */
  readonly hasLostSlots: (key: TargetKey) => boolean;
  /** Returns how many requests the key can send now without waiting. */
  readonly availableRequests: (key: TargetKey) => number;
  readonly detectedTier: (key: TargetKey) => PublishedTier | null;
  /** Sets the assumed tier of a key. Response headers that show the actual tier replace this value. */
  readonly assumeTier: (key: TargetKey, tier: PublishedTier) => void;
}

interface KeyPace {
  running: number;
  readonly queue: (() => void)[];
  /** Arrival times of responses, in milliseconds of the target's clock. */
  readonly answeredMs: number[];
  reported: { remaining: number; untilMs: number; limit: number; sentSince: number } | null;
  detectedTier: PublishedTier | null;
  /** Number of waits for a concurrency slot since the last response that was not 429. */
  slotWaits: number;
}

/** Real time to wait for a free slot after the concurrency limit refused a request. */
const slotReleaseMs = 400;
const maxSlotWaits = 75;

/** Time added to the end of a rate-limit window, because headers round to whole seconds. */
const windowMarginMs = 1000;
const maxConcurrent = 8;

function createKeyPace(): KeyPace {
  return { running: 0, queue: [], answeredMs: [], reported: null, detectedTier: null, slotWaits: 0 };
}

export function startPacer(time: RunClock, limitsOf: (key: TargetKey) => TierLimits | null): Pacer {
  const slowdown = createSlowdownDetector();
  const states = new Map<string, KeyPace>();
  const stateOf = ({ name }: TargetKey): KeyPace => getOrAdd(states, name, createKeyPace);
  const limitsFor = (key: TargetKey, state: KeyPace): TierLimits =>
    limitsOf(key) ?? publishedTiers[state.detectedTier ?? "free"];

  const acquire = async (key: TargetKey): Promise<() => void> => {
    const state = stateOf(key);
    const { perMinute, concurrent } = limitsFor(key, state);
    // Uses half of the concurrency slots, because some servers free a slot only after they have responded.
    const maxRunning = Math.min(maxConcurrent, Math.max(1, Math.floor(concurrent / 2)));
    while (state.running >= (slowdown.isSlow() ? 1 : maxRunning))
      await new Promise<void>((resolve) => state.queue.push(resolve));
    state.running += 1;
    const release = (): void => {
      state.running -= 1;
      state.queue.shift()?.();
    };
    try {
      for (let ms = msUntilAvailable(state, perMinute); ms > 0; ms = msUntilAvailable(state, perMinute))
        await time.passTime(ms, `the ${perMinute} requests a minute of the key \`${key.name}\` are used up`);
    } catch (error) {
      release();
      throw error;
    }
    if (state.reported !== null) state.reported.sentSince += 1;
    return release;
  };

  const msUntilAvailable = (state: KeyPace, perMinute: number): number => {
    const now = time.targetMs();
    const { reported } = state;
    if (reported !== null && now < reported.untilMs) {
      if (reported.remaining - reported.sentSince <= 0) return reported.untilMs - now;
      if (reported.limit === perMinute) return 0;
    }
    const recent = state.answeredMs.filter((ms) => ms > now - minuteMs - windowMarginMs);
    const counted = recent.length + Math.max(0, state.running - 1);
    const oldest = recent[counted - perMinute];
    return counted < perMinute ? 0 : Math.max(1, (oldest ?? now) + minuteMs + windowMarginMs - now);
  };

  const hasLostSlots = (key: TargetKey): boolean => stateOf(key).slotWaits >= maxSlotWaits;
  const awaitSlot = async (key: TargetKey): Promise<void> => {
    if (hasLostSlots(key)) return;
    stateOf(key).slotWaits += 1;
    await time.sleepReal(slotReleaseMs);
  };

  return {
    slowdown,
    acquire,
    observe: (key, sample) => {
      if (sample.kind !== "health" && sample.status !== null) updateState(stateOf(key), sample, time.targetMs());
    },
    awaitSlot,
    hasLostSlots,
    availableRequests: (key) => availableNow(stateOf(key), limitsFor(key, stateOf(key)), time.targetMs()),
    detectedTier: (key) => stateOf(key).detectedTier,
    assumeTier: (key, tier) => {
      stateOf(key).detectedTier = tier;
    },
  };
}

function updateState(state: KeyPace, { status, limit, remaining, resetAfter, date }: Sample, now: number): void {
  state.answeredMs.push(now);
  if (state.answeredMs.length > 10_000) state.answeredMs.splice(0, 5000);
  if (status !== 429) state.slotWaits = 0;
  if (limit === null || remaining === null) return;
  state.detectedTier = tierOfWindow({ limit, remaining, resetAfter, date }) ?? state.detectedTier;
  if (resetAfter === null) return;
  state.reported = {
    remaining,
    limit,
    untilMs: now + Math.max(0, resetAfter) * 1000 + windowMarginMs,
    sentSince: state.running - 1,
  };
}

function availableNow({ reported, answeredMs, running }: KeyPace, { perMinute }: TierLimits, now: number): number {
  const current = reported === null || now >= reported.untilMs ? null : reported;
  const left = current === null ? Infinity : current.remaining - current.sentSince;
  const recent = answeredMs.filter((ms) => ms > now - minuteMs - windowMarginMs).length + running;
  return Math.max(0, current?.limit === perMinute ? left : Math.min(left, perMinute - recent));
}
