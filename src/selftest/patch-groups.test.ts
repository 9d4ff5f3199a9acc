import { describe, expect, it } from "vitest";

import { allVariants, suiteFaults } from "../reference/catalogue.ts";
import { groupCompatibleVariants, faultsCoveringClauses, replacedDecisions } from "./scope.ts";

describe("what a quick selftest draws from", () => {
  it("covers every clause that a fault breaks, with fewer faults", () => {
    const chosen = faultsCoveringClauses(suiteFaults);
    const clausesOf = (faults: typeof chosen): Set<string> => new Set(faults.flatMap(({ breaks }) => breaks));
    expect(clausesOf(chosen)).toEqual(clausesOf(suiteFaults));
    expect(chosen.length).toBeLessThan(suiteFaults.length);
  });

  it("contain every variant, and never two that replace the same decision", () => {
    const groups = groupCompatibleVariants(allVariants, 8);
    expect(new Set(groups.flat())).toEqual(new Set(allVariants));
    expect(groups.flat()).toHaveLength(allVariants.length);
    for (const group of groups) {
      const decisions = group.flatMap(replacedDecisions);
      expect(group.length).toBeLessThanOrEqual(8);
      expect(new Set(decisions).size).toBe(decisions.length);
    }
  });
});
