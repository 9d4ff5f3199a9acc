import { describe, expect, it } from "vitest";

import { clauseIds, clauseOf } from "./clauses.ts";
import { endpointNames } from "./endpoints.ts";
import { profileNames, profileOf, profileOfSource, profiles } from "./profiles.ts";

const serverClauses = clauseIds.filter((id) => clauseOf(id).party === "server");

describe("profiles", () => {
  it("have every clause that binds a server", () => {
    expect(serverClauses.filter((id) => profileOf(id) === null)).toEqual([]);
  });

  it.each([
    ["CLI-1", null],
    ["CFG-1", null],
    ["no clause", null],
    ["INV-1", "core"],
    ["AUTH-3", "core"],
    ["AUTH-10", "signing"],
    ["AUTH-4", "access"],
    ["KEY-6", "access"],
    ["SSE-5", "streaming"],
    ["SSE-30", "streaming"],
    ["HOOK-21", "webhooks"],
    ["ALR-1", "webhooks"],
    ["HDR-1", "limits"],
    ["HLT-15", "limits"],
    ["KEY-9", "limits"],
    ["BAT-1", "operations"],
  ] as const)("have %s in %s", (clause, profile) => {
    expect(profileOf(clause)).toBe(profile);
  });

  it("have each named section and clause, and each endpoint once", () => {
    const sections = new Set(clauseIds.map((id) => clauseOf(id).section));
    const unknown = profileNames
      .flatMap((name) => profiles[name].sections)
      .filter((start) => ![...sections].some((section) => section.startsWith(start)));
    expect(unknown).toEqual([]);
    const sources = profileNames.flatMap((name) => profiles[name].sources);
    expect(sources.toSorted()).toEqual([...new Set(sources)].toSorted());
    expect(endpointNames.filter((name) => !sources.includes(name))).toEqual([]);
    expect(profileOfSource("stream events")).toBe("streaming");
  });
});
