import { describe, expect, it } from "vitest";

import { triesEach } from "../../base/testing/extent.ts";
import { clauseOf } from "../../interface/clauses.ts";
import { runSuites } from "../../run/run.ts";
import { suites } from "../../suites/all.ts";
import { goDefects } from "./defects.ts";
import { goVendor, startVendor, type Switch, switchesOf } from "./testing/vendor.ts";

/** Each run takes some seconds: agents and receivers of a vendor live in real time. */
const runTimeoutMs = 300_000;
const groups = 4;

/** What a run of everything finds, with all that the vendor is told to do wrong or oddly. */
async function findings(switches: readonly Switch[]): Promise<{ red: string[]; unjudged: unknown[]; clauses: number }> {
  const { target, close } = await startVendor(goVendor, switches);
  try {
    const result = await runSuites({ target, suites, maxRequests: 100_000, signal: new AbortController().signal });
    if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
    const { judgements } = result;
    const isMust = (clause: string): boolean => ["must", "should"].includes(clauseOf(clause as never).level);
    return {
      red: [
        ...new Set(
          judgements.flatMap(({ check, finding }) =>
            finding.kind === "breach" && isMust(check.clause) ? [check.clause] : [],
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

function clausesOf(defect: string): readonly string[] {
  const row = goDefects[defect];
  return row !== undefined && "found" in row ? row.found : [];
}

describe.skipIf(!goVendor.isHere()).concurrent("a vendor in Go, who had nothing but the document", () => {
  const all = goVendor.isHere() ? switchesOf(goVendor) : [];
  const defects = all.filter(({ kind }) => kind === "defect");
  const odds = all.filter(({ kind }) => kind === "odd");
  const dealt = (switches: readonly Switch[], into: number): Switch[][] =>
    Array.from({ length: into }, (_, group) => switches.filter((_, at) => at % into === group));

  it("has a row for each of its defects", () => {
    expect(Object.keys(goDefects).toSorted()).toEqual(defects.map(({ name }) => name).toSorted());
  });

  it("is not flagged, and is judged nearly whole", { timeout: runTimeoutMs }, async () => {
    const { red, unjudged, clauses } = await findings([]);
    expect({ red, unjudged }).toEqual({ red: [], unjudged: [] });
    expect(clauses).toBeGreaterThan(160);
  });

  it.runIf(triesEach).each(dealt(odds, 2).map((those) => [those.map(({ name }) => name).join(", "), those] as const))(
    "is not flagged for what is odd and legal: %s",
    { timeout: runTimeoutMs },
    async (_, those) => {
      const { red, unjudged } = await findings(those);
      expect({ red, unjudged }).toEqual({ red: [], unjudged: [] });
    },
  );

  it
    .runIf(triesEach)
    .each(dealt(defects, groups).map((those) => [those.map(({ name }) => name).join(", "), those] as const))(
    "is red for its defects, and for nothing else: %s",
    { timeout: runTimeoutMs },
    async (_, those) => {
      const { red } = await findings(those);
      const rows = those.map(({ name }) => ({ name, clauses: clausesOf(name) }));
      const missed = rows.filter(
        ({ clauses }) => clauses.length > 0 && !clauses.some((clause) => red.includes(clause)),
      );
      const broken = new Set(rows.flatMap(({ clauses }) => clauses));
      expect({ missed, unexplained: red.filter((clause) => !broken.has(clause)) }).toEqual({
        missed: [],
        unexplained: [],
      });
    },
  );
});
