import { describe, expect, it } from "vitest";

import { hasGo, trialSampleOf } from "../../base/testing/test-scope.ts";
import { type ClauseId, clauseOf } from "../../spec/clauses.ts";
import { runSuites } from "../../run/run.ts";
import { suites } from "../../suites/all.ts";
import { goDefects } from "./defects.ts";
import { startVendor, type ServerSwitch, vendorSwitches } from "./testing/vendor.ts";

/** Time limit of a run. A run takes some seconds, because the server's agents and deliveries take real time. */
const runTimeoutMs = 300_000;

/**
 * Distributes the switches over several runs. Neighbouring switches are similar and would hide each other, so they are
 * in different runs.
 */
const dealt = (switches: readonly ServerSwitch[], hands: number) =>
  Array.from({ length: hands }, (_, hand) => {
    const those = switches.filter((each) => switches.indexOf(each) % hands === hand);
    return { named: those.map(({ name }) => name).join(", "), those };
  });

/** Runs all suites against the server with these defects and oddities. */
async function findings(
  switches: readonly ServerSwitch[],
): Promise<{ red: string[]; unjudged: unknown[]; clauses: number }> {
  const { target, close } = await startVendor(switches);
  try {
    const result = await runSuites({ target, suites, maxRequests: 100_000, signal: new AbortController().signal });
    if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
    const { judgements } = result;
    const isClaim = (clause: ClauseId): boolean => ["must", "should"].includes(clauseOf(clause).level);
    return {
      red: [
        ...new Set(
          judgements.flatMap(({ check, finding }) =>
            finding.kind === "breach" && isClaim(check.clause) ? [check.clause] : [],
          ),
        ),
      ].toSorted(),
      unjudged: judgements.flatMap(({ finding }) => (finding.kind === "error" ? [finding.reason] : [])),
      clauses: new Set(
        judgements.flatMap(({ check, finding }) =>
          finding.kind === "holds" || finding.kind === "follows" ? [check.clause] : [],
        ),
      ).size,
    };
  } finally {
    close();
  }
}

/** Clauses that a defect turns red; none if the table says that it is missed. */
function clausesOf(defect: string): readonly string[] {
  const row = goDefects[defect];
  return row !== undefined && "found" in row ? row.found : [];
}

describe.skipIf(!hasGo()).concurrent("a vendor in Go, who had nothing but the document", () => {
  const all = hasGo() ? vendorSwitches() : [];
  const defects = all.filter(({ kind }) => kind === "defect");
  const odds = all.filter(({ kind }) => kind === "odd");

  it("has a row for each of its defects", () => {
    expect(Object.keys(goDefects).toSorted()).toEqual(defects.map(({ name }) => name).toSorted());
  });

  it.each(trialSampleOf([{ named: "without a switch", those: [] }]))(
    "is judged nearly whole, and not flagged, $named",
    async ({ those }) => {
      const { red, unjudged, clauses } = await findings(those);
      expect({ red, unjudged }).toEqual({ red: [], unjudged: [] });
      expect(clauses).toBeGreaterThan(160);
    },
    runTimeoutMs,
  );

  it.each(trialSampleOf(dealt(odds, 2)))(
    "is not flagged for what is odd and legal: $named",
    async ({ those }) => {
      const { red, unjudged } = await findings(those);
      expect({ red, unjudged }).toEqual({ red: [], unjudged: [] });
    },
    runTimeoutMs,
  );

  it.each(trialSampleOf(dealt(defects, 5)))(
    "is red for its defects, and for nothing else: $named",
    async ({ those }) => {
      const { red } = await findings(those);
      const rows = those.map(({ name }) => ({ name, clauses: clausesOf(name) }));
      const isMissed = (clauses: readonly string[], found: readonly string[]): boolean =>
        clauses.length > 0 && !clauses.some((clause) => found.includes(clause));
      const missed: typeof rows = [];
      // Several defects of one server may hide each other, so a defect that was missed is tried again alone.
      for (const row of rows.filter(({ clauses }) => isMissed(clauses, red))) {
        const alone = await findings(those.filter(({ name }) => name === row.name));
        if (isMissed(row.clauses, alone.red)) missed.push(row);
      }
      const broken = new Set(rows.flatMap(({ clauses }) => clauses));
      expect({ missed, unexplained: red.filter((clause) => !broken.has(clause)) }).toEqual({
        missed: [],
        unexplained: [],
      });
    },
    runTimeoutMs,
  );
});
