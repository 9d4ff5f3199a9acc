import { minuteMs } from "../../base/duration.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import type { TargetKey } from "../../target/target.ts";
import { tierOfWindow } from "../plan/key-limits.ts";
import { type SlowdownDetector, createSlowdownDetector } from "./slowdown.ts";
import type { RunClock } from "../time/run-clock.ts";

/** Keeps the traffic of each key below its limits, except in probes that test limits. */
export interface Pacer {
  /** Detects a target that slows down. It then gets one request at a time. */
  readonly slowdown: SlowdownDetector;
  /**
   * Waits until a request may be sent with the key.
   *
   * @returns a function to call when the response has arrived
   * @throws {WaitRefused} if the wait is longer than the run may still wait
   */
  readonly acquire: (key: TargetKey) => Promise<() => void>;
  /** Updates the state of the key from a response, of paced and unpaced requests alike. */
  readonly observe: (key: TargetKey, sample: Sample) => void;
  /** Requests that the key can send now without waiting, by its headers and by what was sent. */
  readonly availableRequests: (key: TargetKey) => number;
  /** The tier detected from the key's headers. `null` if none was detected. */
  readonly detectedTier: (key: TargetKey) => keyof typeof publishedTiers | null;
}

interface Lane {
  running: number;
  readonly queue: (() => void)[];
  /** Times of responses, on the target's clock, that may count against the minute. */
  readonly answeredMs: number[];
  shown: { remaining: number; untilMs: number; limit: number; sentSince: number } | null;
  shownTier: keyof typeof publishedTiers | null;
}

/** Extra time after the announced end of a window, because headers are in whole seconds. */
const marginMs = 1000;
const mostAtOnce = 8;

function startLanes(): (key: TargetKey) => Lane {
  const lanes = new Map<string, Lane>();
  return ({ name }) => {
    const known = lanes.get(name);
    if (known !== undefined) return known;
    const lane: Lane = { running: 0, queue: [], answeredMs: [], shown: null, shownTier: null };
    lanes.set(name, lane);
    return lane;
  };
}

export function startPacer(time: RunClock, limitsOf: (key: TargetKey) => TierLimits | null): Pacer {
  const slowdown = createSlowdownDetector();
  const laneOf = startLanes();
  const assumed = (key: TargetKey, lane: Lane): TierLimits => limitsOf(key) ?? publishedTiers[lane.shownTier ?? "free"];

  const acquire = async (key: TargetKey): Promise<() => void> => {
    const lane = laneOf(key);
    const { perMinute, concurrent } = assumed(key, lane);
    // Uses half of the slots: a server may free a slot a moment after its response has arrived.
    const mostRunning = Math.min(mostAtOnce, Math.max(1, Math.floor(concurrent / 2)));
    while (lane.running >= (slowdown.isSlow() ? 1 : mostRunning))
      await new Promise<void>((resolve) => lane.queue.push(resolve));
    lane.running += 1;
    const back = (): void => {
      lane.running -= 1;
      lane.queue.shift()?.();
    };
    try {
      for (let ms = roomIn(lane, perMinute); ms > 0; ms = roomIn(lane, perMinute))
        await time.passTime(ms, `the ${perMinute} requests a minute of the key \`${key.name}\` are used up`);
    } catch (error) {
      back();
      throw error;
    }
    if (lane.shown !== null) lane.shown.sentSince += 1;
    return back;
  };

  /** Time until the key can send a request, in milliseconds. */
  const roomIn = (lane: Lane, perMinute: number): number => {
    const now = time.targetMs();
    const { shown } = lane;
    if (shown !== null && now < shown.untilMs) {
      if (shown.remaining - shown.sentSince <= 0) return shown.untilMs - now;
      if (shown.limit === perMinute) return 0;
    }
    const recent = lane.answeredMs.filter((ms) => ms > now - minuteMs - marginMs);
    const counted = recent.length + Math.max(0, lane.running - 1);
    const oldest = recent[counted - perMinute];
    return counted < perMinute ? 0 : Math.max(1, (oldest ?? now) + minuteMs + marginMs - now);
  };

  const observe = (key: TargetKey, sample: Sample): void => {
    if (sample.kind !== "health" && sample.status !== null) learn(laneOf(key), sample, time.targetMs());
  };

  return {
    slowdown,
    acquire,
    observe,
    availableRequests: (key) => roomNow(laneOf(key), assumed(key, laneOf(key)), time.targetMs()),
    detectedTier: (key) => laneOf(key).shownTier,
  };
}

/** Updates the state of a key from the headers of a response. */
function learn(lane: Lane, { limit, remaining, resetAfter, date }: Sample, now: number): void {
  lane.answeredMs.push(now);
  if (lane.answeredMs.length > 10_000) lane.answeredMs.splice(0, 5000);
  if (limit === null || remaining === null || resetAfter === null) return;
  lane.shown = {
    remaining,
    limit,
    untilMs: now + Math.max(0, resetAfter) * 1000 + marginMs,
    sentSince: lane.running - 1,
  };
  lane.shownTier = tierOfWindow({ limit, remaining, resetAfter, date }) ?? lane.shownTier;
}

/** Requests that a key can send without waiting. */
function roomNow({ shown, answeredMs, running }: Lane, { perMinute }: TierLimits, now: number): number {
  const told = shown === null || now >= shown.untilMs ? null : shown;
  const left = told === null ? Infinity : told.remaining - told.sentSince;
  const recent = answeredMs.filter((ms) => ms > now - minuteMs - marginMs).length + running;
  return Math.max(0, told?.limit === perMinute ? left : Math.min(left, perMinute - recent));
}
