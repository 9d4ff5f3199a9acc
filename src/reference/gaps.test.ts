import { describe, expect, it } from "vitest";
import { clauseIds, clauseOf } from "../spec/clauses.ts";
import { gaps } from "./gaps.ts";
import { findPatch } from "./catalogue.ts";

describe("the gaps", () => {
  it("name existing variants", () => {
    const names = gaps.flatMap(({ otherwise }) => otherwise);
    expect(names.filter((name) => findPatch("variant", name) === undefined)).toEqual([]);
  });

  it("cover every gap of the document", () => {
    const filled = new Set(gaps.flatMap(({ clauses }) => clauses));
    const open = clauseIds.filter((id) => {
      const { level, party, untestable } = clauseOf(id);
      return party === "server" && level === "gap" && untestable === undefined && !filled.has(id);
    });
    expect(open).toEqual([]);
  });

  it("have a variant for each clause that is a gap", () => {
    const fixed = gaps.filter(({ clauses, otherwise }) => {
      return otherwise.length === 0 && clauses.some((id) => clauseOf(id).level === "gap");
    });
    expect(fixed).toEqual([]);
  });
});
