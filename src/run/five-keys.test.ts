import { describe, expect, it } from "vitest";

import { sampleOf } from "../base/testing/test-scope.ts";
import { findPatch } from "../reference/catalogue.ts";
import { startFastForwardServer } from "../reference/testing/test-server.ts";
import type { Patch } from "../reference/patch.ts";
import { suites } from "../suites/all.ts";
import { selectChecks } from "./plan/selection.ts";
import { runSuites } from "./run.ts";
import { aKey, aTarget } from "./testing/values.ts";

const tierByKey = { free: "free", second: "free", pro: "pro", team: "team", enterprise: "enterprise" } as const;

/** Runs with five keys on a real clock, and returns the clauses that are broken. The target file names no agent. */
async function brokenWith(kind: Patch["kind"], name: string, only: readonly string[]): Promise<string[]> {
  const patch = findPatch(kind, name);
  if (patch === undefined) throw new Error(`there is no ${kind} ${name}`);
  const { reference, timers, close } = await startFastForwardServer([patch]);
  try {
    const keys = Object.entries(tierByKey).map(([key, tier]) => {
      const found = reference.keys.find((each) => each.name === key);
      return [key, aKey({ name: key, key: found?.key ?? "", tier })] as const;
    });
    const result = await runSuites({
      target: aTarget(reference.baseUrl, {
        keys: Object.fromEntries(keys),
        tiers: { enterprise: reference.tiers.enterprise },
      }),
      suites: selectChecks(suites, { only, skip: [] }),
      maxWaitMs: 180_000,
      signal: new AbortController().signal,
      timers,
    });
    if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
    const broken = result.judgements.filter(({ finding }) => ["breach", "error"].includes(finding.kind));
    return [...new Set(broken.map(({ check }) => check.clause))];
  } finally {
    await close();
  }
}

/** Retries allow for a busy machine, where a late response looks like a request that waits for a concurrency slot. */
const onBusyMachines = { retry: 3 } as const;

describe("a run with five keys, no roles and no test clock", () => {
  it.each([
    ["one-too-many-a-minute", "LIM-1"],
    ["one-account-for-a-tier", "LIM-9"],
    ["slot-late-on-disconnect", "SSE-27"],
  ])("finds the fault %s", onBusyMachines, async (name, clause) => {
    expect(await brokenWith("fault", name, [clause])).toEqual([clause]);
  });

  const legal = [
    "rolling-windows",
    "sliding-windows",
    "token-bucket",
    "anchored-windows",
    "burst-adds-and-shows",
    "refusals-count",
    "concurrency-refusals-count",
    "remaining-read-late",
    "leaving-noticed-late",
  ];
  it.each(sampleOf(legal, { of: 8 }))("finds no breach of a limit with the variant %s", async (name) => {
    expect(await brokenWith("variant", name, ["LIM-1", "LIM-9", "LIM-17", "SSE-27"])).toEqual([]);
  });
});
