import { z } from "zod";

import type { DeepReadonly } from "../../base/json.ts";
import { groupsBy } from "../../base/groups.ts";
import { formatNumber, sumOf, wholePercent } from "../../base/numbers.ts";
import { profileResultsOf } from "./profiles.ts";
import { limitResult } from "./proven-limits.ts";
import { limitsSchema, type ProfileResult, type Report } from "./report.ts";

const count = z.int().nonnegative();

export const coverageSharesSchema = z.object({
  musts: z
    .object({ exercised: count, total: count })
    .nullable()
    .describe("Must clauses of all profiles with a verdict. null: the report has no profiles."),
  pairs: z
    .object({ covered: count, reachable: count })
    .nullable()
    .describe("Pairs of request properties. null: the run did not count them."),
  limits: limitsSchema,
});

/** Coverage of a run, by three measures: mandatory clauses, pairs of request properties, and rate limits. */
export type CoverageShares = DeepReadonly<z.infer<typeof coverageSharesSchema>>;

interface CoverageSource extends Pick<Report, "limits"> {
  readonly profiles?: readonly Pick<ProfileResult, "verdict" | "musts" | "exercised">[] | undefined;
  readonly pairs?: { readonly covered: number; readonly reachable: number } | undefined;
}

export const reportShares = (report: Report): CoverageShares =>
  coverageShares({ ...report, profiles: profileResultsOf(report) });

export function coverageShares({ profiles = [], pairs, limits = [] }: CoverageSource): CoverageShares {
  const judged = profiles.filter(({ verdict }) => verdict !== "not offered" && verdict !== "not selected");
  const exercised = sumOf(judged.map((each) => each.exercised));
  return {
    musts: judged.length === 0 ? null : { exercised, total: sumOf(judged.map(({ musts }) => musts)) },
    pairs: pairs === undefined ? null : { covered: pairs.covered, reachable: pairs.reachable },
    limits,
  };
}

/** Formats coverage, such as `must clauses 98 % (210 of 213), rate limits: 8 kept`; empty without coverage. */
export const formatShares = ({ musts, pairs, limits }: CoverageShares): string =>
  [
    ...(musts === null ? [] : [`must clauses ${formatShare(musts.exercised, musts.total)}`]),
    ...(pairs === null ? [] : [`pairs of properties ${formatShare(pairs.covered, pairs.reachable)}`]),
    ...(limits.length === 0 ? [] : [`rate limits: ${formatLimitCounts(limits)}`]),
  ].join(", ");

const formatShare = (part: number, total: number): string =>
  `${wholePercent(part, total)} % (${formatNumber(part)} of ${formatNumber(total)})`;

const formatLimitCounts = (limits: CoverageShares["limits"]): string =>
  groupsBy(limits, limitResult)
    .map((alike) => `${alike.length} ${limitResult(alike[0])}`)
    .join(", ");
