import { rmSync } from "node:fs";

import { scenarios } from "../../src/load/scenarios.ts";
import { embeddedLimits } from "../../src/app/load/embedded-environment.ts";
import { findEngines } from "../../src/app/load/engines.ts";
import { tierNames } from "../../src/spec/tiers.ts";
import { chooseTrials } from "../../src/load/trials.ts";
import { conformance, runCommand } from "../measuring/command.ts";
import { scratchFile } from "../measuring/scratch.ts";
import { atMost } from "../tool/goal.ts";
import { nothingToClose, type Row } from "../tool/row.ts";

/** Exit codes to accept. 3 says that some result was invalid, which may happen if the machine is busy. */
const codes = [0, 3];

/** The real seconds that all trials of `load --all` need together, by the durations in their scenarios. */
async function secondsOfAll(): Promise<number> {
  const { names: engines } = await findEngines();
  const trials = chooseTrials({ scenarios, tiers: tierNames, engine: "in turns", engines, usesScenarioLimits: true });
  return trials.reduce((sum, { scenario, tier }) => {
    const limits = embeddedLimits(scenario, tier);
    return sum + scenario.seconds(limits) / scenario.speed(limits);
  }, 0);
}

/** Scenarios that replace `--all` when a test of the bench itself has to be quick. */
const short = ["burst"];

export const loadAllRow: Row = {
  name: "load-all",
  what: "`conformance load --all`, start to exit",
  against: "the seconds that its scenarios must last",
  compared: "wall time",
  goal: atMost(1.1),
  mostRounds: 1,
  open: async ({ isFull }) => ({
    subject: async () => {
      const out = scratchFile("load", "report");
      const chosen = isFull ? ["--all"] : short;
      const took = await runCommand({ args: conformance("load", ...chosen, "--quiet", "--out", out), codes });
      rmSync(out, { recursive: true });
      return took;
    },
    baseline: async () => ({ wallMs: (await secondsOfAll()) * 1000, cpuMs: 0, bytes: null }),
    close: nothingToClose,
  }),
};
