import { describe, expect, it } from "vitest";

import { sampleFinding } from "../../report/testing/sample.ts";
import { clauseOf, isClauseId } from "../../spec/clauses.ts";
import { newestRequirementsOfAnyParty, newestRequirements } from "../../spec/clause.ts";
import { clausesHash, verdictParts } from "./assemble-report.ts";

const judging = { end: { kind: "planned" }, unselected: [], load: null } as const;

const untestablePartiesOf = (party: "server" | "client"): string[] => {
  const { untestable } = verdictParts([], { ...judging, party, requirements: newestRequirementsOfAnyParty });
  return [...new Set(untestable.flatMap(({ clause }) => (isClauseId(clause) ? [clauseOf(clause).party] : [])))];
};

describe("a report judges one party", () => {
  it.each(["server", "client"] as const)("and lists only what no request can show of a %s", (party) => {
    expect(untestablePartiesOf(party)).toEqual([party]);
  });

  it("and names its clauses by a hash that other parties do not change", () => {
    expect(clausesHash("server")).not.toBe(clausesHash("client"));
  });

  it("and a server is conformant although nothing of a client was exercised", () => {
    const { verdict } = verdictParts([sampleFinding({})], { ...judging, requirements: newestRequirements });
    expect(verdict).toBe("conformant");
  });
});
