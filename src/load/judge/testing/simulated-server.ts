import { minuteMs, hourMs } from "../../../base/duration.ts";
import type { Random } from "../../../rules/limits/admission/testing/random.ts";
import type { TierLimits } from "../../../spec/tiers.ts";
import {
  anchored,
  type LimiterReport,
  type ReportingLimiter,
  type Size,
} from "../../../rules/limits/admission/testing/limiters.ts";
import { bucket, limiterOf, shapes } from "./reported-limiters.ts";
import { getOrAdd } from "../../../base/memoize.ts";

/** The decision about one request, with what the headers report. */
export interface Decided {
  readonly answer: "admitted" | "refused";
  readonly shown: LimiterReport;
  readonly retryAfterSeconds: number | null;
}

/** The account of a key on a simulated server. Times are in ms of the target's clock. */
export interface Account {
  readonly hour: ReportingLimiter;
  readonly minute: ReportingLimiter;
  readonly extraLimiters: readonly ReportingLimiter[];
  /** The times at which the slots that were taken so far are free again. */
  readonly busyUntilMs: number[];
  /** Times of admitted requests that are not counted yet, in a server that reads its count and writes it later. */
  uncountedMs: number[];
}

/** The behaviour of a simulated server. A fault overrides one field. */
export interface ServerDecisions {
  readonly speaksOf: "hour" | "minute" | "tighter";
  readonly slots: number;
  readonly slotsFirst: boolean;
  readonly countsRefusals: boolean;
  readonly errorsCount: boolean;
  readonly round: (value: number) => number;
  readonly moreRetrySeconds: number;
  /** The announced wait of a refusal, as a share of the true wait. */
  readonly retryShare: number;
  /** Returns the milliseconds from the end of a response until its slot is free. */
  readonly releaseMs: () => number;
  /** Returns the milliseconds from the disconnection of a client until its slot is free. */
  readonly noticeMs: () => number;
  /** Milliseconds for which a failed request keeps its slot. */
  readonly failureKeepsMs: number;
  readonly slotsUntil: (kind: "invoke" | "stream", endMs: number, headMs: number) => number;
  readonly refusalTakesMs: number;
  readonly show: (reading: LimiterReport) => LimiterReport;
  /** Decisions within this many milliseconds do not see each other's counts. */
  readonly raceMs: number;
  readonly countsHealth: boolean;
  readonly countsOfStream: number;
}

export interface SimulatedServer {
  readonly describe: string;
  readonly parts: ServerDecisions;
  readonly accountOf: (key: string) => Account;
}

/** The limiters of a simulated server. */
export interface Terms {
  readonly hour: (typeof shapes)[number];
  readonly minute: "bucket" | "pushed in secret" | (typeof shapes)[number];
  readonly burstAdds: boolean;
  /** Whether the minute also has a token bucket of the burst's size. */
  readonly hasBucket: boolean;
  readonly capacities: Partial<Capacities>;
  /** Whether all keys share one account. */
  readonly isShared: boolean;
}

/** The limiters of most servers: fixed windows. */
export const defaultTerms: Terms = {
  hour: "fixed",
  minute: "fixed",
  burstAdds: false,
  hasBucket: false,
  capacities: {},
  isShared: false,
};

export const defaultDecisions = ({ concurrent }: TierLimits): ServerDecisions => ({
  speaksOf: "tighter",
  slots: concurrent,
  slotsFirst: true,
  countsRefusals: false,
  errorsCount: true,
  round: Math.ceil,
  moreRetrySeconds: 0,
  retryShare: 1,
  releaseMs: () => 0,
  noticeMs: () => 500,
  failureKeepsMs: 0,
  slotsUntil: (_kind, endMs) => endMs,
  refusalTakesMs: 0,
  show: (shown) => shown,
  raceMs: 0,
  countsHealth: false,
  countsOfStream: 1,
});

/** Makes a random server that obeys the document. */
export function legalServer(limits: TierLimits, random: Random): SimulatedServer {
  const terms: Terms = {
    ...defaultTerms,
    hour: random.pick(shapes),
    minute: random.pick(["bucket", ...shapes] as const),
    burstAdds: limits.burst !== null && random.chance(0.3),
    hasBucket: limits.burst !== null && random.chance(0.15),
  };
  const parts: ServerDecisions = {
    ...defaultDecisions(limits),
    speaksOf: random.pick(["hour", "minute", "tighter"] as const),
    slotsFirst: random.chance(0.5),
    countsRefusals: random.chance(0.3),
    errorsCount: random.chance(0.5),
    round: random.pick([Math.ceil, Math.floor, Math.round]),
    moreRetrySeconds: random.pick([0, 0, 1]),
    releaseMs: () => random.pick([0, 0, 5, 200]),
    noticeMs: () => random.between(0, 2000),
  };
  return simulatedServer(limits, terms, parts, random);
}

export function simulatedServer(
  limits: TierLimits,
  terms: Terms,
  parts: ServerDecisions,
  random: Random,
): SimulatedServer {
  const accounts = new Map<string, Account>();
  const { burstAdds, hasBucket, isShared } = terms;
  const capacity = {
    hour: limits.perHour,
    minute: limits.perMinute + (burstAdds ? (limits.burst ?? 0) : 0),
    ...terms.capacities,
  };
  const size = (windowMs: number, reported: number, of: number): Size => ({ windowMs, reported, capacity: of });
  const open = (): Account => ({
    hour: limiterOf(terms.hour, size(hourMs, limits.perHour, capacity.hour), random),
    minute: minuteOf(terms, size(minuteMs, limits.perMinute, capacity.minute), limits, random),
    extraLimiters: hasBucket
      ? [bucket(size(minuteMs, limits.perMinute, limits.burst ?? 1), limits.perMinute / minuteMs, true)]
      : [],
    busyUntilMs: [],
    uncountedMs: [],
  });
  return {
    describe: JSON.stringify({ terms, parts }),
    parts,
    accountOf: (key) => getOrAdd(accounts, isShared ? "all" : key, open),
  };
}

export interface Capacities {
  readonly hour: number;
  readonly minute: number;
}

function minuteOf(
  { minute, burstAdds }: Terms,
  size: Size,
  { burst, perMinute }: TierLimits,
  random: Random,
): ReportingLimiter {
  if (minute === "pushed in secret") return anchored(size, true, false);
  if (minute !== "bucket") return limiterOf(minute, size, random);
  const capacity = burstAdds || burst === null ? size.capacity : burst;
  return bucket({ ...size, capacity }, perMinute / minuteMs, random.chance(0.5));
}

const limitersOf = ({ hour, minute, extraLimiters }: Account): ReportingLimiter[] => [...extraLimiters, minute, hour];

/** Returns the values that the headers report now. */
export function reportOf(account: Account, { speaksOf, show }: ServerDecisions, nowMs: number): LimiterReport {
  const [hour, minute] = [account.hour.read(nowMs), account.minute.read(nowMs)];
  if (speaksOf === "hour") return show(hour);
  if (speaksOf === "minute") return show(minute);
  return show(minute.remaining <= hour.remaining ? minute : hour);
}

/** Decides about an invoke or a stream. */
export function decideAt(account: Account, parts: ServerDecisions, nowMs: number, counts: number): Decided {
  account.busyUntilMs.splice(0, account.busyUntilMs.length, ...account.busyUntilMs.filter((ms) => ms > nowMs));
  settle(account, nowMs - parts.raceMs);
  const slotsFull = account.busyUntilMs.length >= parts.slots;
  const forSlots = (): Decided => ({ answer: "refused", shown: reportOf(account, parts, nowMs), retryAfterSeconds: 1 });
  if (parts.slotsFirst && slotsFull) return forSlots();
  const refusing = limitersOf(account).filter((limiter) => limiter.isFull(nowMs));
  if (refusing.length > 0) return refuse(refusing, parts, nowMs);
  if (slotsFull) return forSlots();
  const shownBefore = reportOf(account, parts, nowMs);
  for (let at = 0; at < counts; at += 1) account.uncountedMs.push(nowMs);
  if (parts.raceMs > 0)
    return {
      answer: "admitted",
      shown: { ...shownBefore, remaining: shownBefore.remaining - 1 },
      retryAfterSeconds: null,
    };
  settle(account, nowMs);
  return { answer: "admitted", shown: reportOf(account, parts, nowMs), retryAfterSeconds: null };
}

function settle(account: Account, untilMs: number): void {
  for (const ms of account.uncountedMs.filter((one) => one <= untilMs))
    for (const limiter of limitersOf(account)) limiter.count(ms);
  account.uncountedMs = account.uncountedMs.filter((ms) => ms > untilMs);
}

function refuse(refusing: readonly ReportingLimiter[], parts: ServerDecisions, nowMs: number): Decided {
  const longest = refusing.reduce((one, other) => (other.roomAtMs(nowMs) > one.roomAtMs(nowMs) ? other : one));
  const before = longest.read(nowMs);
  if (parts.countsRefusals) for (const limiter of refusing) limiter.countRefusal(nowMs);
  const roomAtMs = Math.max(...refusing.map((limiter) => limiter.roomAtMs(nowMs)));
  const after = longest.read(nowMs);
  return {
    answer: "refused",
    shown: parts.show(parts.countsRefusals ? after : before),
    retryAfterSeconds: Math.max(1, Math.ceil((parts.retryShare * (roomAtMs - nowMs)) / 1000)) + parts.moreRetrySeconds,
  };
}
