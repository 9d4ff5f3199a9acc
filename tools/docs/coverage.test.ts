import { describe, expect, it } from "vitest";

import { clauseIds, clauseOf } from "../../src/spec/clauses.ts";
import { allVariants, suiteFaults } from "../../src/reference/catalogue.ts";
import { probesOf } from "../../src/run/judge/check.ts";
import { typescriptMistakes } from "../../src/selftest/clients/typescript-changes.ts";
import { receiverFaults } from "../../src/selftest/receivers/faults.ts";
import { allSuites } from "../../src/suites/all.ts";

const checks = allSuites.flatMap((suite) => suite.checks);
const probes = new Set(checks.flatMap((check) => Object.values(probesOf(check.on))));
const faults = [...suiteFaults, ...allVariants, ...receiverFaults].flatMap(({ breaks }) => breaks);
const broken = new Set<string | null>([...faults, ...typescriptMistakes.map(({ breaks }) => breaks)]);
const isCovered = (id: string): boolean => checks.some(({ clause }) => clause === id);

describe("coverage of the document", () => {
  it.each(clauseIds)("%s has a check, an observation or a reason", (id) => {
    const ways = [isCovered(id), clauseOf(id).untestable !== undefined];
    expect(ways.filter(Boolean)).toHaveLength(1);
  });

  it.each(clauseIds.filter((id) => isCovered(id) && clauseOf(id).level !== "gap" && id !== "REQ-1"))(
    "%s has a fault that breaks it, or a legal behaviour that draws its note",
    (id) => {
      expect(broken.has(id)).toBe(true);
    },
  );

  it("gives each check its own id, and each probe its own name", () => {
    expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
    expect(new Set([...probes].map(({ name }) => name)).size).toBe(probes.size);
  });
});
