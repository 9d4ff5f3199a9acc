import { rmSync } from "node:fs";

import { scenarios } from "../../src/load/scenarios.ts";
import { embeddedLimits } from "../../src/app/load/embedded-environment.ts";
import { findEngines } from "../../src/app/load/available-engines.ts";
import { tierNames } from "../../src/spec/tiers.ts";
import { chooseTrials } from "../../src/load/trials.ts";
import { conformanceArgs, runCommand } from "../measuring/command.ts";
import { scratchFile } from "../measuring/scratch.ts";
import { maxRatio } from "../tool/goal.ts";
import { nothingToClose, type BenchRow } from "../tool/row.ts";

/** Exit codes to accept. The code 3 means that some load proved nothing, which may happen on a busy machine. */
const acceptedExitCodes = [0, 3];

/** Returns how long all trials of `load --all` last in real seconds, according to their scenarios. */
async function scheduledSeconds(): Promise<number> {
  const { names: engines } = await findEngines();
  const trials = chooseTrials({ scenarios, tiers: tierNames, engine: "in turns", engines, usesScenarioLimits: true });
  return trials.reduce((sum, { scenario, tier }) => {
    const limits = embeddedLimits(scenario, tier);
    return sum + scenario.seconds(limits) / scenario.speed(limits);
  }, 0);
}

/** The scenarios to send instead of `--all` if only a small share of the work is requested. */
const quickScenarios = ["burst"];

export const loadAllRow: BenchRow = {
  name: "load-all",
  what: "`conformance load --all`, start to exit",
  against: "the seconds that its scenarios must last",
  compared: "wall time",
  goal: maxRatio(1.1),
  maxRounds: 1,
  open: async ({ isFull }) => ({
    subject: async () => {
      const out = scratchFile("load", "report");
      const chosen = isFull ? ["--all"] : quickScenarios;
      const took = await runCommand({
        args: conformanceArgs("load", ...chosen, "--quiet", "--out", out),
        codes: acceptedExitCodes,
      });
      rmSync(out, { recursive: true });
      return took;
    },
    baseline: async () => ({ wallMs: (await scheduledSeconds()) * 1000, cpuMs: 0, bytes: null }),
    close: nothingToClose,
  }),
};
