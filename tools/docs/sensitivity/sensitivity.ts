import type { TierLimits } from "../../../src/spec/tiers.ts";
import {
  anchoredWindow,
  overrideLimiter,
  fixedWindow,
  type Limiter,
  rollingWindow,
  windowsOf,
} from "../../../src/reference/limits/windows.ts";
import { limits as suite } from "../../../src/suites/limits/checks.ts";
import { usedUpKeys } from "../../../src/suites/limits/spare-key-checks.ts";
import { minuteExhausted } from "../../../src/suites/limits/minute-probe.ts";
import { simulateProbe, type SimulatedEvidence, type SimulatedTarget } from "./simulated-run.ts";

/** Conditions of a simulated run: whether its key is unused before the run, and whether the target has a test clock. */
export const situations = {
  "one key, a real clock": { isFresh: false, hasClock: false },
  "a fresh key, a real clock": { isFresh: true, hasClock: false },
  "a test clock": { isFresh: false, hasClock: true },
} as const;
export type Situation = keyof typeof situations;

/** Kinds of rate limiters that a simulated server can use. */
const limiterKinds = {
  fixed: fixedWindow,
  "opened by a request": anchoredWindow,
  rolling: rollingWindow,
} as const;
export type LimiterKind = keyof typeof limiterKinds;

/** Waiting time that a simulated run has left: `whole` of the default `--max-wait`, or the `rest` after 59 s. */
const remainingWaitMs = { whole: 120_000, rest: 61_000 } as const;

const startSeconds = [0, 11, 34, 55] as const;
const epochMs = 1_800_000_000_000;

export interface LooseLimit {
  /** Ids of checks. The loose limit counts as detected if at least one of them fails. */
  readonly checks: readonly string[];
  readonly kinds: readonly LimiterKind[];
  readonly serverOf: (
    kind: LimiterKind,
    admitted: number,
    limits: TierLimits,
  ) => Pick<SimulatedTarget, "limiters" | "advertised">;
}

const minuteLimiter = (kind: LimiterKind, admitted: number, limits: TierLimits): Limiter => {
  const { minute } = windowsOf(limits);
  return limiterKinds[kind]({ ...minute, limit: admitted, advertisedLimit: limits.perMinute });
};

/** A server that admits too many requests per minute. Until a 429, its headers report only the limit per hour. */
export const looseMinute: LooseLimit = {
  checks: ["LIM-1", "LIM-1/every key"],
  kinds: ["fixed", "opened by a request", "rolling"],
  serverOf: (kind, admitted, limits) => {
    const hour = fixedWindow(windowsOf(limits).hour);
    return { limiters: [hour, minuteLimiter(kind, admitted, limits)], advertised: hour };
  },
};

/** A server that still admits requests after its headers reported `Remaining: 0`. */
export const looseAfterZeroRemaining: LooseLimit = {
  checks: ["HDR-19", "LIM-1", "LIM-1/every key"],
  kinds: ["fixed", "opened by a request"],
  serverOf: (kind, admitted, limits) => {
    const advertised = limiterKinds[kind](windowsOf(limits).minute);
    return {
      limiters: [fixedWindow(windowsOf(limits).hour), minuteLimiter(kind, admitted, limits), neverRefusing(advertised)],
      advertised,
    };
  },
};

const neverRefusing = (limiter: Limiter): Limiter => overrideLimiter(limiter, { hasRoom: () => true });

export async function isDetected(
  loose: LooseLimit,
  limits: TierLimits,
  situation: Situation,
  admitted: number,
  kinds: readonly LimiterKind[] = loose.kinds,
): Promise<boolean> {
  const { hasClock } = situations[situation];
  for (const kind of kinds)
    for (const phase of startSeconds)
      for (const maxWaitMs of hasClock ? [remainingWaitMs.whole] : Object.values(remainingWaitMs)) {
        const server = { ...loose.serverOf(kind, admitted, limits), ...situations[situation], limits, maxWaitMs };
        const evidence = await simulateProbe(
          { ...server, startMs: epochMs + phase * 1000 },
          minuteExhausted,
          usedUpKeys,
        );
        if (!loose.checks.some((id) => findingOf(id, evidence) === "breach")) return false;
      }
  return true;
}

function findingOf(id: string, { probed, reviewed }: SimulatedEvidence): string {
  const check = suite.checks.find((each) => each.id === id);
  if (check === undefined) throw new Error(`the suite of limits has no check ${id}`);
  const evidence = id.endsWith("/every key") ? { used: reviewed, spare: { isSpare: false } } : probed;
  return check.judge(evidence as never).kind;
}
