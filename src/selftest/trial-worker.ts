import { parentPort } from "node:worker_threads";

import { patchNamed } from "../reference/catalogue.ts";
import { affectsLimits, type TrialExtent, withOnlyClauses, scopeOf, combinePatches } from "./scope.ts";
import { type PatchTrial, type TrialRequest, tryPatch } from "./trial.ts";

const port = parentPort;
if (port === null) throw new Error("the selftest worker is started by the selftest only");

port.on("message", (request: TrialRequest) => {
  void handle(request);
});

async function handle({ group, extent, clauses }: TrialRequest): Promise<void> {
  const patch = combinePatches(group.map(patchNamed));
  const tryIn = (within: TrialExtent): Promise<PatchTrial> => {
    const scope = scopeOf(patch, within);
    return tryPatch(patch, clauses === null ? scope : withOnlyClauses(clauses, scope));
  };
  let trial = await tryIn(extent);
  const isDetected = (): boolean => patch.breaks.every((clause) => trial.red.includes(clause));
  // If the trial misses the fault, repeats the trial once with a larger extent.
  if (extent === "own" && !isDetected()) trial = await tryIn("short");
  if (extent === "short" && affectsLimits(patch) && !isDetected()) trial = await tryIn("full");
  port?.postMessage(trial);
}
