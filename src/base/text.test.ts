import { describe, expect, it } from "vitest";

import { joinWithOr, formatCount, joinFirst, formatLabelled, wrap, wrapBroken } from "./text.ts";

describe("text for people", () => {
  it("breaks lines at blanks, and leaves a long word whole", () => {
    expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrap("a extraordinarily b", 5)).toEqual(["a", "extraordinarily", "b"]);
    expect(wrap("", 5)).toEqual([""]);
  });

  it("measures columns of a terminal", () => {
    expect(wrap("日本 日本 a", 7)).toEqual(["日本", "日本 a"]);
    expect(formatLabelled("日本  ", "one two three four five", 22, (label) => label)).toEqual([
      "日本  one two three four",
      "      five",
    ]);
  });

  it("breaks long words where it is asked to", () => {
    expect(wrapBroken("a extraordinarily b", 6)).toEqual(["a", "extrao", "rdinar", "ily b"]);
    expect(wrapBroken("", 6)).toEqual([""]);
  });

  it("keeps further lines under the first", () => {
    expect(formatLabelled("say  ", "one two three four five six", 26, (label) => label.toUpperCase())).toEqual([
      "SAY  one two three four",
      "     five six",
    ]);
  });

  it("counts, and shortens lists", () => {
    expect([formatCount(1, "clause"), formatCount(0, "clause"), formatCount(4213, "request")]).toEqual([
      "1 clause",
      "0 clauses",
      "4,213 requests",
    ]);
    expect([[], ["a"], ["a", "b"], ["a", "b", "c"]].map(joinWithOr)).toEqual(["", "a", "a or b", "a, b or c"]);
    expect(joinFirst(["a", "b", "c"], 3)).toBe("a, b, c");
    expect(joinFirst(["a", "b", "c", "d"], 2)).toBe("a, b and 2 more");
  });
});
