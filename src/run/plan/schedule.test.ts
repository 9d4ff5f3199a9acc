import { describe, expect, it } from "vitest";

import type { PlannedProbe } from "./plan.ts";
import { type Stage, probe, tierProbe } from "../probe.ts";
import { buildSchedule } from "./schedule.ts";
import { runByKey } from "../execute.ts";
import { aKey } from "../testing/values.ts";
import { publishedTiers } from "../../spec/tiers.ts";

const nothing = () => Promise.resolve(null);

const planned = (
  name: string,
  keys: readonly string[],
  stage: Stage = "exclusive",
  tier: "free" | "pro" | null = null,
): PlannedProbe => {
  const limits = publishedTiers[tier ?? "free"];
  return {
    probe:
      tier === null || (stage !== "exclusive" && stage !== "concurrency" && stage !== "limits")
        ? probe(name, { requests: 1, stage }, nothing)
        : tierProbe(name, { stage, requests: () => 1, waitSeconds: () => 0 }, nothing),
    tested: tier === null ? null : { tier, key: aKey({ name: keys[0] ?? "" }), limits, siblingKey: null },
    isJudged: true,
    musts: [],
    requests: 1,
    executions: 0,
    keys,
    usesMainKey: keys.includes("main"),
    skip: null,
  };
};

const namesIn = (probes: readonly PlannedProbe[]): string[] => probes.map(({ probe: { name } }) => name);

describe("probes that run by key", () => {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (each: PlannedProbe): Promise<void> => {
    started.push(each.probe.name);
    return new Promise((end) => ends.set(each.probe.name, end));
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it("run concurrently if they share no key, and in their order if they do", async () => {
    const all = [
      planned("one", ["main"]),
      planned("both", ["main", "free"]),
      planned("free", ["free"]),
      planned("pro", ["pro"]),
    ];
    const done = runByKey(all, run);
    await turn();
    expect(started).toEqual(["one", "pro"]);
    ends.get("one")?.();
    await turn();
    expect(started).toEqual(["one", "pro", "both"]);
    ends.get("both")?.();
    await turn();
    expect(started).toEqual(["one", "pro", "both", "free"]);
    ends.get("pro")?.();
    ends.get("free")?.();
    await done;
  });
});

describe("the steps of a schedule", () => {
  const all = [
    planned("shared", ["main"], "shared"),
    planned("main's slots", ["main"], "exclusive", "pro"),
    planned("free's slots", ["free"], "exclusive", "free"),
    planned("main's limits", ["main"], "limits", "pro"),
    planned("free's limits", ["free"], "limits", "free"),
    planned("at last", ["main"], "review"),
  ];
  const conditions = { canAdvance: false, hasFewRequests: false, hasWebhookAgent: true };
  const waves = (traits: Partial<typeof conditions> = {}): string[][] =>
    buildSchedule(all, { ...conditions, ...traits })
      .map(({ probes }) => namesIn(probes))
      .filter((names) => names.length > 0);

  it("run the limits of other keys at the same time as the probes of the main key, on a real clock", () => {
    expect(waves()).toEqual([
      ["shared"],
      ["free's slots", "free's limits", "main's slots", "main's limits"],
      ["at last"],
    ]);
  });

  it("leave the limits for last if they would flood the webhooks", () => {
    expect(waves({ hasWebhookAgent: false })).toEqual([
      ["shared"],
      ["free's slots", "main's slots"],
      ["free's limits", "main's limits"],
      ["at last"],
    ]);
  });

  it("start with the limits if the key has few requests", () => {
    expect(waves({ hasFewRequests: true })[0]).toEqual(["main's limits", "free's limits"]);
  });

  it("follow the stages, one by one, with a test clock", () => {
    const steps = buildSchedule(all, { ...conditions, canAdvance: true }).filter(({ probes }) => probes.length > 0);
    expect(steps.map(({ mode }) => mode)).toEqual(["pool", "one by one", "one by one", "one by one"]);
  });

  it.each([true, false])("begin with those that open the run, with a test clock: %s", (canAdvance) => {
    const steps = buildSchedule([...all, planned("first uses", ["free"], "opening")], { ...conditions, canAdvance });
    expect(namesIn(steps[0]?.probes ?? [])).toEqual(["first uses"]);
  });

  it("test concurrency before the first webhook, and abandon streams after all slots were counted, with a test clock", () => {
    const hooks = planned("webhooks", ["main"]);
    const steps = buildSchedule(
      [
        planned("before", ["main"]),
        { ...hooks, probe: { ...hooks.probe, creates: { webhooks: 1 } } },
        planned("after", ["main"]),
        planned("streams left", ["free"], "concurrency"),
        planned("free's slots", ["free"], "concurrency", "free"),
      ],
      { ...conditions, canAdvance: true },
    );
    const names = steps.map(({ probes }) => namesIn(probes)).filter(({ length }) => length > 0);
    expect(names).toEqual([["before"], ["free's slots", "streams left"], ["webhooks", "after"]]);
  });
});
