import { isObject } from "../../base/json.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { Patch } from "../../reference/patch.ts";
import { probesOf } from "../../run/judge/check.ts";
import { isExchange, resultsByProbe } from "../../run/judge/judge-evidence.ts";
import { suites } from "../../suites/all.ts";
import { type Target, usableKeys } from "../../target/target.ts";
import { coreMessages, runUnbounded, withSmallTiers } from "../trial.ts";
import type { CleanRun } from "./mutant.ts";
import { representativeIds } from "./mutation-sites.ts";

export async function cleanRunWith(source: string, variants: readonly Patch[]): Promise<CleanRun> {
  const embedded = await startEmbedded(variants);
  try {
    return await cleanRunOf(source, withSmallTiers(embedded.target));
  } finally {
    await embedded.close();
  }
}

/**
 * Runs the suites against a correct server.
 *
 * @throws {Error} if nothing could be judged
 */
export async function cleanRunOf(source: string, target: Target): Promise<CleanRun> {
  const result = await runUnbounded(target, suites, { maxWaitMs: 2000 });
  if (result.kind !== "judged") throw new Error(`${source}: ${coreMessages.reason(result.sentence)}`);
  return reducedRun({
    source,
    results: resultsByProbe(result.runs),
    exchanges: result.exchanges,
    deliveries: result.deliveries,
    validKeys: usableKeys(target).map(({ name }) => name),
    paths: target.paths,
  });
}

/** Drops a response if an earlier one is similar. Mutants are then judged faster, with the same results. */
export function reducedRun(run: CleanRun): CleanRun {
  const kept = representativeIds(run);
  const isDropped = (value: unknown): boolean =>
    typeof value === "object" && value !== null && isExchange(value) && !kept.has(value.id);
  const slim = (value: unknown): unknown =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, each]) => [
            name,
            Array.isArray(each) ? each.filter((item) => !isDropped(item)) : each,
          ]),
        )
      : value;
  const results = new Map(
    [...run.results].map(([probe, entries]) => [
      probe,
      wholeRunProbes.has(probe)
        ? entries.map((entry) =>
            entry.result.kind === "ran"
              ? { ...entry, result: { ...entry.result, evidence: slim(entry.result.evidence) } }
              : entry,
          )
        : entries,
    ]),
  );
  return { ...run, results, exchanges: run.exchanges.filter(({ id }) => kept.has(id)) };
}

/** Names of the probes of stage `review`. They read the exchanges of the whole run. */
const wholeRunProbes: ReadonlySet<string> = new Set(
  suites.flatMap(({ checks }) =>
    checks.flatMap(({ on }) =>
      Object.values(probesOf(on)).flatMap(({ name, stage }) => (stage === "review" ? [name] : [])),
    ),
  ),
);
