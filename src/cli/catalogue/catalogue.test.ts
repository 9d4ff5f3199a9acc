import { describe, expect, it } from "vitest";

import { clauseIds } from "../../spec/clauses.ts";
import { catalogue } from "./catalogue.ts";

describe("what is known of each clause", () => {
  it("is data alone, which the build can write down", () => {
    expect(JSON.parse(JSON.stringify(catalogue))).toEqual(catalogue);
  });

  it("has an entry for each clause", () => {
    expect(Object.keys(catalogue)).toEqual([...clauseIds]);
  });
});
