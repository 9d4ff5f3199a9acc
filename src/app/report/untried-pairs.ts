import { formatCount, joinFirst } from "../../base/text.ts";
import { sinceField } from "../../report/model/requirements.ts";
import type { ReportFinding } from "../../report/model/report.ts";
import type { Selection } from "../../run/plan/selection.ts";
import { clausesOfPair } from "../../suites/coverage/clauses-of-pairs.ts";
import { cornersRequested, type PairCoverage } from "../../suites/coverage/probe.ts";

/** Maximum number of untried pairs that the text of a finding names. */
const maxNamedPairs = 4;

/**
 * Returns the pairs of request properties that the run could have tried together, but did not. Empty if the user
 * selected checks, or old evidence does not say why a pair is missing.
 */
export const untriedPairs = (coverage: PairCoverage | null, selection: Selection | undefined): readonly string[] =>
  coverage?.seen === undefined || selection !== undefined ? [] : coverage.uncovered;

/**
 * Adds a skipped finding for each must clause with an untried pair of request properties, so that the clause does not
 * count as exercised. It counts from the requirement set on that introduced generated requests.
 */
export function withUntriedPairFindings(
  findings: readonly ReportFinding[],
  unseen: readonly string[],
): readonly ReportFinding[] {
  const ofClauses = unseen.flatMap((pair) => clausesOfPair(pair).map((clause) => ({ clause, pair })));
  const byClause = Map.groupBy(ofClauses, ({ clause }): string => clause);
  const rows = [...byClause].flatMap(([clause, pairs]): ReportFinding[] => {
    const known = findings.find((each) => each.clause === clause);
    if (known === undefined || known.level !== "must") return [];
    const { suite, level } = known;
    const names = joinFirst(
      pairs.map(({ pair }) => pair),
      maxNamedPairs,
    );
    return [
      {
        check: `${clause}/pairs of properties`,
        clause,
        suite,
        level,
        ...sinceField(cornersRequested.since),
        outcome: "skipped",
        reason: `${formatCount(pairs.length, "pair")} of properties within reach, not in any request: ${names}`,
        unseenPairs: pairs.length,
      },
    ];
  });
  return [...findings, ...rows];
}
