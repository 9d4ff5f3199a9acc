import { describe, expect, it } from "vitest";

import { openEmbeddedEnvironment } from "../../app/load/trial-environment.ts";
import { isFull } from "../../base/testing/test-scope.ts";
import { loadEvidenceSchema } from "../../evidence/load-evidence.ts";
import { judgeTrial, type TrialResult } from "../../load/run-trials.ts";
import { type EngineName, scenarioNamed } from "../../load/scenarios.ts";
import { allVariants } from "../../reference/catalogue.ts";
import type { Patch } from "../../reference/patch.ts";
import { groupCompatibleVariants } from "../scope.ts";
import { installedEngines, sendLoneTrial } from "./plans.ts";

/** Sends the scenario `minute-limit` with a Free key to a server with these variants. */
async function sendTo(variants: readonly Patch[], engine: EngineName): Promise<TrialResult | undefined> {
  const scenario = scenarioNamed("minute-limit");
  if (scenario === undefined) throw new Error("There is no scenario minute-limit.");
  const environment = openEmbeddedEnvironment(variants.map(({ name }) => ({ kind: "variant", name })));
  try {
    return await sendLoneTrial({ scenario, tier: "free", engine }, environment);
  } finally {
    await environment.close();
  }
}

const breachesOf = (result: TrialResult | undefined): readonly string[] =>
  result?.kind === "judged"
    ? result.findings.flatMap((each) =>
        each.kind === "breach" ? [`${each.check}: expected ${each.expected}; ${each.actual}`] : [],
      )
    : [JSON.stringify(result)];

/** Number of trials to run at once, because a trial mostly waits. */
const concurrentTrials = 6;

const names = (variants: readonly Patch[]): string => variants.map(({ name }) => name).join(", ");

describe("load on legal variants of the server", { timeout: 600_000 }, () => {
  // A full run tries each variant by itself.
  const groups = groupCompatibleVariants(allVariants, isFull ? 1 : 16);

  it("finds nothing, and writes evidence that it can read and judge again", async () => {
    const engines = await installedEngines();
    const trials = groups.flatMap((variants, at) =>
      isFull ? engines.map((engine) => ({ variants, engine })) : [{ variants, engine: engines[at % engines.length] }],
    );
    const waiting = trials.values();
    const sendWaiting = async (): Promise<void> => {
      for (const { variants, engine = "autocannon" } of waiting) {
        const result = await sendTo(variants, engine);
        expect(breachesOf(result), `${engine}: ${names(variants)}`).toEqual([]);
        if (result?.kind !== "judged") continue;
        const saved = loadEvidenceSchema.parse(JSON.parse(JSON.stringify(result.evidence)));
        expect(saved).toEqual(result.evidence);
        expect(judgeTrial(result.trial, saved)).toEqual(result);
      }
    };
    await Promise.all(Array.from({ length: concurrentTrials }, sendWaiting));
  });
});
