import { describe, expect, it } from "vitest";

import { alternatives, counted, firstOf, labelled, wrap, wrapBroken } from "./text.ts";

describe("text for people", () => {
  it("breaks lines at blanks, and leaves a long word whole", () => {
    expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrap("a extraordinarily b", 5)).toEqual(["a", "extraordinarily", "b"]);
    expect(wrap("", 5)).toEqual([""]);
  });

  it("measures columns of a terminal", () => {
    expect(wrap("日本 日本 a", 7)).toEqual(["日本", "日本 a"]);
    expect(labelled("日本  ", "one two three four five", 22, (label) => label)).toEqual([
      "日本  one two three four",
      "      five",
    ]);
  });

  it("breaks long words where it is asked to", () => {
    expect(wrapBroken("a extraordinarily b", 6)).toEqual(["a", "extrao", "rdinar", "ily b"]);
    expect(wrapBroken("", 6)).toEqual([""]);
  });

  it("keeps further lines under the first", () => {
    expect(labelled("say  ", "one two three four five six", 26, (label) => label.toUpperCase())).toEqual([
      "SAY  one two three four",
      "     five six",
    ]);
  });

  it("counts, and shortens lists", () => {
    expect([counted(1, "clause"), counted(0, "clause"), counted(4213, "request")]).toEqual([
      "1 clause",
      "0 clauses",
      "4,213 requests",
    ]);
    expect([[], ["a"], ["a", "b"], ["a", "b", "c"]].map(alternatives)).toEqual(["", "a", "a or b", "a, b or c"]);
    expect(firstOf(["a", "b", "c"], 3)).toBe("a, b, c");
    expect(firstOf(["a", "b", "c", "d"], 2)).toBe("a, b and 2 more");
  });
});
