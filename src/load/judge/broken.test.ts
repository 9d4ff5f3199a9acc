import { describe, expect, it } from "vitest";

import { type Scenario, scenarioNamed } from "../scenarios.ts";
import { sampleOf } from "../../base/testing/test-scope.ts";
import { flow, invoke, repeatEvery } from "../../../scenarios/traffic.ts";
import { randomOf } from "../../rules/limits/admission/testing/random.ts";
import { publishedTiers, type PublishedTier, type TierLimits } from "../../spec/tiers.ts";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import { judgeLoad } from "./judge.ts";
import { simulateRun } from "./testing/simulated-run.ts";
import {
  defaultDecisions,
  defaultTerms,
  type ServerDecisions,
  simulatedServer,
  type Terms,
} from "./testing/simulated-server.ts";

const hourOneByOne: Pick<Scenario, "name" | "flows"> = {
  name: "hour-limit",
  flows: ({ perMinute, perHour, concurrent }) => {
    const shape = { kind: "shared", atOnce: Math.floor(concurrent / 2), requests: perMinute - 1 } as const;
    const whole = Math.floor(perHour / perMinute);
    return [
      ...repeatEvery(80, whole, flow("minute", invoke, shape)),
      ...repeatEvery(
        60,
        whole + 4,
        flow("single", invoke, { kind: "in turn", requests: 1 }, { afterSeconds: whole * 80 }),
      ),
    ];
  },
};

interface Fault {
  readonly name: string;
  readonly scenario: string;
  readonly terms?: (limits: TierLimits) => Partial<Terms>;
  readonly parts?: Partial<ServerDecisions>;
  /** The traffic to send instead of the scenario's. */
  readonly traffic?: Pick<Scenario, "name" | "flows">;
  /** Seed of the windows' phases. With another seed, a window may end during the run. */
  readonly seed?: number;
  /** The clauses that the fault breaks. It must break no others. */
  readonly breaks: readonly string[];
  readonly tiers: readonly PublishedTier[];
}

const free = ["free"] as const;
const pro = ["pro"] as const;
const freePro = ["free", "pro"] as const;

const faults: readonly Fault[] = [
  {
    name: "one too many a minute",
    scenario: "minute-limit",
    terms: ({ perMinute }) => ({ capacities: { minute: perMinute + 1 } }),
    breaks: ["LIM-1"],
    tiers: freePro,
  },
  {
    name: "one too many for a minute and its burst together",
    scenario: "minute-limit",
    terms: ({ perMinute, burst }) => ({ capacities: { minute: perMinute + (burst ?? 0) + 1 } }),
    breaks: ["LIM-1"],
    tiers: freePro,
  },
  {
    name: "five more admitted than were told to be left",
    scenario: "minute-limit",
    parts: { speaksOf: "minute", show: (shown) => ({ ...shown, remaining: Math.max(0, shown.remaining - 5) }) },
    breaks: ["HDR-12", "HDR-19"],
    tiers: freePro,
  },
  {
    name: "one too few a minute",
    scenario: "minute-limit",
    terms: ({ perMinute }) => ({ capacities: { minute: perMinute - 1 } }),
    breaks: ["HDR-12", "LIM-2"],
    tiers: freePro,
  },
  {
    name: "one too many an hour",
    scenario: "hour-limit",
    terms: ({ perHour }) => ({ capacities: { hour: perHour + 1 } }),
    breaks: ["LIM-3"],
    tiers: freePro,
  },
  {
    name: "one too few an hour",
    scenario: "hour-limit",
    terms: ({ perHour }) => ({ capacities: { hour: perHour - 1 } }),
    traffic: hourOneByOne,
    breaks: ["LIM-4"],
    tiers: free,
  },
  {
    name: "one too few an hour",
    scenario: "hour-limit",
    terms: ({ perHour }) => ({ capacities: { hour: perHour - 1 } }),
    traffic: hourOneByOne,
    breaks: ["LIM-4"],
    tiers: pro,
    seed: 2,
  },
  {
    name: "a read-then-write race",
    scenario: "burst",
    parts: { raceMs: 20, slots: 1000 },
    breaks: ["LIM-1"],
    tiers: freePro,
  },
  {
    name: "one bucket for all keys",
    scenario: "noisy-neighbour",
    terms: () => ({ isShared: true }),
    breaks: ["LIM-9"],
    tiers: pro,
  },
  {
    name: "a window that refusals restart in secret",
    scenario: "recovery",
    terms: () => ({ minute: "pushed in secret" }),
    parts: { countsRefusals: true, speaksOf: "minute" },
    breaks: ["LIM-13"],
    tiers: freePro,
  },
  {
    name: "`retry_after` far too long",
    scenario: "recovery",
    parts: { moreRetrySeconds: 200 },
    breaks: ["LIM-14"],
    tiers: freePro,
  },
  {
    name: "`retry_after` half a minute too long",
    scenario: "recovery",
    parts: { moreRetrySeconds: 30 },
    breaks: ["LIM-14"],
    tiers: freePro,
  },
  {
    name: "`retry_after` a third of the truth",
    scenario: "recovery",
    parts: { retryShare: 1 / 3 },
    breaks: ["LIM-13"],
    tiers: freePro,
  },
  {
    name: "`retry_after` a third of the truth, which refusals push away",
    scenario: "recovery",
    terms: () => ({ minute: "pushed" }),
    parts: { retryShare: 1 / 3, countsRefusals: true },
    breaks: ["LIM-13"],
    tiers: freePro,
  },
  {
    name: "slots of clients that leave are lost",
    scenario: "slots-back",
    parts: { noticeMs: () => Infinity },
    breaks: ["LIM-17"],
    tiers: pro,
  },
  {
    name: "slots of failures are lost",
    scenario: "slots-back",
    parts: { failureKeepsMs: Infinity },
    breaks: ["LIM-17"],
    tiers: pro,
  },
  { name: "a slot too few", scenario: "concurrency", parts: { slots: -1 }, breaks: ["LIM-6"], tiers: freePro },
  { name: "a slot too many", scenario: "concurrency", parts: { slots: 1 }, breaks: ["LIM-5"], tiers: freePro },
  {
    name: "a stream's slot freed with its head",
    scenario: "held-streams",
    parts: { slotsUntil: (_kind, _endMs, headMs) => headMs },
    breaks: ["LIM-18"],
    tiers: freePro,
  },
  {
    name: "a stream that counts five times",
    scenario: "usage-ledger",
    parts: { countsOfStream: 5 },
    breaks: ["LIM-11"],
    tiers: pro,
  },
  {
    name: "health that counts",
    scenario: "health-while-exhausted",
    parts: { countsHealth: true },
    breaks: ["HLT-16"],
    tiers: freePro,
  },
  {
    name: "`Remaining` below zero",
    scenario: "far-over",
    parts: { show: (shown) => (shown.remaining === 0 ? { ...shown, remaining: -1 } : shown) },
    breaks: ["HDR-9"],
    tiers: free,
  },
  {
    name: "a 429 that takes seconds",
    scenario: "health-while-exhausted",
    parts: { refusalTakesMs: 3000 },
    breaks: ["load/slow-refusals"],
    tiers: free,
  },
];

const cases = faults.flatMap((fault) =>
  fault.tiers.map((tier) => ({ fault, tier, name: `${fault.name}, on ${tier}` })),
);

describe("a broken server breaks the clause of its fault", () => {
  it.each(cases)("$name", ({ fault, tier }) => {
    const { evidence, scenario } = runOf(fault, tier, fault.seed ?? 1);
    expect(brokenIn(evidence, scenario)).toEqual(fault.breaks);
  });
});

describe("one request too many a minute is found wherever the minutes end, on the target's own clock", () => {
  const many = faults.filter(({ name }) => name.startsWith("one too many a minute") || name.includes("burst together"));
  const phases = many.flatMap((fault) =>
    freePro.flatMap((tier) => [2, 3, 4, 5, 6, 7].map((seed) => ({ fault, tier, seed }))),
  );
  it.each(sampleOf(phases, { of: 3 }))("$fault.name, on $tier, phase $seed", ({ fault, tier, seed }) => {
    const { evidence, scenario } = runOf(fault, tier, seed, { speed: 1, latencyMs: 20, isOurs: false });
    expect(brokenIn(evidence, scenario)).toEqual(["LIM-1"]);
  });
});

describe("a wrong `retry_after` is found wherever the minutes end, on the target's own clock", () => {
  const wrong = faults.filter(({ name }) => name.startsWith("`retry_after`"));
  const phases = wrong.flatMap((fault) =>
    freePro.flatMap((tier) => [2, 3, 4, 5, 6, 7].map((seed) => ({ fault, tier, seed }))),
  );
  it.each(sampleOf(phases, { of: 3 }))("$fault.name, on $tier, phase $seed", ({ fault, tier, seed }) => {
    const { evidence, scenario } = runOf(fault, tier, seed, { speed: 1, latencyMs: 20, isOurs: false });
    expect(brokenIn(evidence, scenario)).toEqual(fault.breaks);
  });
});

/**
 * `CONFORMANCE_TABLE=1 npm run test:unit -- broken` prints from which number of requests on each fault is found, for
 * several phases of the windows.
 */
const wantsTable = process.env["CONFORMANCE_TABLE"] === "1";
it.each(wantsTable ? ["all"] : [])("from how many requests on: %s", { timeout: 900_000 }, () => {
  const rows = cases.map(({ fault, tier, name }) => {
    const from = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => {
      const { evidence, scenario } = runOf(fault, tier, seed);
      const isFound = fault.breaks.every((clause) => brokenIn(evidence, scenario).includes(clause));
      return isFound ? `${foundFrom(evidence, scenario, fault.breaks)}/${evidence.requests.length}` : "-";
    });
    return `${name}: ${from.join("  ")}`;
  });
  expect(rows.join("\n")).toBe("");
});

/** The network and clock of a server. */
interface Place {
  /** Speed of the clock. Default: that of the embedded server. */
  readonly speed?: number;
  readonly latencyMs: number;
  /** Whether this is the embedded server, whose slots are never freed late. */
  readonly isOurs: boolean;
}

function runOf(
  fault: Fault,
  tier: PublishedTier,
  seed: number,
  { speed, latencyMs, isOurs }: Place = { latencyMs: 1, isOurs: true },
): { readonly evidence: LoadEvidence; readonly scenario: Scenario } {
  const limits = publishedTiers[tier];
  const scenario = scenarioNamed(fault.scenario);
  if (scenario === undefined) throw new Error(`no scenario ${fault.scenario}`);
  const random = randomOf(seed);
  const plain = defaultDecisions(limits);
  const { slots = plain.slots, ...parts } = fault.parts ?? {};
  const more = slots === -1 || slots === 1 ? limits.concurrent + slots : slots;
  const server = simulatedServer(
    limits,
    { ...defaultTerms, ...fault.terms?.(limits) },
    { ...plain, ...parts, slots: more },
    random,
  );
  const world = {
    limits,
    tier,
    engine: "k6",
    speed: speed ?? scenario.speed(limits),
    latencyMs,
    lossShare: 0,
    skewMs: 90_000,
    drift: 0,
    dates: "fresh",
    isFresh: true,
  } as const;
  const evidence = simulateRun({ ...scenario, ...fault.traffic }, server, world, random);
  return { evidence: { ...evidence, server: isOurs ? { rssBytes: [] } : null }, scenario };
}

function brokenIn(evidence: LoadEvidence, scenario: Scenario): string[] {
  const broken = judgeLoad(evidence, scenario).flatMap(({ kind, clause, check }) =>
    kind === "breach" ? [clause ?? check.split("/").slice(0, 2).join("/")] : [],
  );
  return [...new Set(broken)].toSorted((a, b) => a.localeCompare(b));
}

/** Returns how many requests, from the first on, suffice to show the breach. */
function foundFrom(evidence: LoadEvidence, scenario: Scenario, breaks: readonly string[]): number {
  const shows = (count: number): boolean => {
    const begun = {
      ...evidence,
      requests: evidence.requests.slice(0, count),
      generator: { ...evidence.generator, planned: count, sent: count },
    };
    return brokenIn(begun, scenario).some((each) => breaks.includes(each));
  };
  let low = 1;
  let high = evidence.requests.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (shows(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
