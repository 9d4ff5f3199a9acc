import { describe, expect, it } from "vitest";

import { clauseIds } from "../../spec/clauses.ts";
import { clauseCatalogue } from "./catalogue.ts";

describe("what is known of each clause", () => {
  it("is data alone, which the build can write down", () => {
    expect(JSON.parse(JSON.stringify(clauseCatalogue))).toEqual(clauseCatalogue);
  });

  it("has an entry for each clause", () => {
    expect(Object.keys(clauseCatalogue)).toEqual([...clauseIds]);
  });
});
