import { isObject } from "../../base/json.ts";
import { probesOf } from "../../run/judge/check.ts";
import { isExchange } from "../../run/judge/judge.ts";
import { suites } from "../../suites/all.ts";
import type { CleanRun } from "./clean-run.ts";
import { representativeIds } from "./mutation-sites.ts";

/**
 * The same run with a few of each kind of answer in what looks over the whole of it: what hundreds of answers that are
 * alike would say, a few say as well, and a mutant is judged in a fraction of the time.
 */
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
      lookedOver.has(probe)
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

/** Probes that look over what others brought back. */
const lookedOver: ReadonlySet<string> = new Set(
  suites.flatMap(({ checks }) =>
    checks.flatMap(({ on }) =>
      Object.values(probesOf(on)).flatMap(({ name, stage }) => (stage === "review" ? [name] : [])),
    ),
  ),
);
