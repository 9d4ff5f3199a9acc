import type { TierName } from "../../spec/tiers.ts";

/** A fault of the reference server, and the load scenario that must detect it. */
export interface LoadFaultPlan {
  readonly fault: string;
  readonly scenario: string;
  readonly tier: TierName;
  /**
   * The clauses that the load must find broken, and no others. A requirement of load that is not in the document has a
   * name such as `load/slow-refusals`.
   */
  readonly finds: readonly string[];
  /** Clauses that the load may find broken as well. */
  readonly mayFind?: readonly string[];
}

/** Every fault that only a load run detects, each with its scenario. */
export const loadFaultPlans: readonly LoadFaultPlan[] = [
  { fault: "decides-before-it-counts", scenario: "burst", tier: "pro", finds: ["LIM-1"] },
  { fault: "one-too-many-a-minute", scenario: "minute-limit", tier: "pro", finds: ["LIM-1"] },
  { fault: "one-too-few-a-minute", scenario: "minute-limit", tier: "free", finds: ["LIM-2"], mayFind: ["HDR-12"] },
  { fault: "one-too-many-an-hour", scenario: "hour-limit", tier: "free", finds: ["LIM-3"] },
  { fault: "one-slot-too-many", scenario: "concurrency", tier: "free", finds: ["LIM-5"] },
  { fault: "slot-lost-by-leaving", scenario: "slots-back", tier: "pro", finds: ["LIM-17"] },
  { fault: "stream-outlives-client", scenario: "slots-back", tier: "pro", finds: ["SSE-27"] },
  { fault: "slot-back-with-the-head", scenario: "held-streams", tier: "free", finds: ["LIM-18"] },
  { fault: "keys-share", scenario: "noisy-neighbour", tier: "pro", finds: ["LIM-9"] },
  { fault: "refusals-restart-the-minute", scenario: "recovery", tier: "free", finds: ["LIM-13"] },
  { fault: "negative-while-crowded", scenario: "far-over", tier: "pro", finds: ["HDR-9"] },
  {
    fault: "slow-refusals",
    scenario: "health-while-exhausted",
    tier: "free",
    finds: ["load/slow-refusals"],
  },
  { fault: "token-updates-lost", scenario: "usage-ledger", tier: "pro", finds: ["USE-8"] },
  {
    fault: "one-event-in-a-thousand-lost",
    scenario: "webhook-storm",
    tier: "enterprise",
    finds: ["HOOK-8"],
  },
];

/** Scenarios that run one at a time, because each keeps a processor core busy. */
export const exclusiveScenarios: ReadonlySet<string> = new Set([
  "burst",
  "noisy-neighbour",
  "far-over",
  "stream-integrity",
  "webhook-storm",
  "soak",
]);
