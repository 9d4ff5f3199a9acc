import { formatCount, joinFirst } from "../../base/text.ts";
import { sinceField } from "../../report/model/requirements.ts";
import type { ReportFinding } from "../../report/model/report.ts";
import type { Selection } from "../../run/plan/selection.ts";
import { clausesOfPair } from "../../suites/coverage/clauses-of-pairs.ts";
import { cornersRequested, type PairCoverage } from "../../suites/coverage/probe.ts";

/** A finding names at most this many pairs of request properties. */
const maxNamed = 4;

/**
 * Returns the pairs of request properties that the run could have combined in a request, but did not. Empty if `--only` or `--skip` left
 * requests out, or the evidence is too old to say why a pair is missing.
 */
export const unseenPairsOf = (coverage: PairCoverage | null, selection: Selection | undefined): readonly string[] =>
  coverage?.seen === undefined || selection !== undefined ? [] : coverage.uncovered;

/**
 * Adds skipped findings for must clauses that an untried pair of request properties is about, so that such a clause does not count as
 * exercised. They count only from the requirement set that introduced generated requests.
 */
export function withUnseenPairs(
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
      maxNamed,
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
