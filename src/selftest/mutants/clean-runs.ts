import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { Patch } from "../../reference/patch.ts";
import { resultsByProbe } from "../../run/judge/judge.ts";
import { runSuites } from "../../run/run.ts";
import { suites } from "../../suites/all.ts";
import { type Target, usableKeys } from "../../target/target.ts";
import { plainWording } from "../plain-wording.ts";
import { withSmallTiers } from "../trial.ts";
import type { CleanRun } from "./clean-run.ts";
import { reducedRun } from "./reduce-run.ts";

/** Runs the suites against the reference server with these variants. */
export async function cleanRunWith(source: string, variants: readonly Patch[]): Promise<CleanRun> {
  const embedded = await startEmbedded(variants);
  try {
    return await cleanRunOf(source, withSmallTiers(embedded.target));
  } finally {
    await embedded.close();
  }
}

/**
 * Runs the suites against a server that is sound.
 *
 * @throws {Error} where there is nothing to judge
 */
export async function cleanRunOf(source: string, target: Target): Promise<CleanRun> {
  const result = await runSuites({
    target,
    suites,
    maxRequests: Number.POSITIVE_INFINITY,
    maxWaitMs: 2000,
    signal: new AbortController().signal,
  });
  if (result.kind !== "judged") throw new Error(`${source}: ${plainWording.reason(result.sentence)}`);
  return reducedRun({
    source,
    results: resultsByProbe(result.runs),
    exchanges: result.exchanges,
    deliveries: result.deliveries,
    validKeys: usableKeys(target).map(({ name }) => name),
    paths: target.paths,
  });
}
