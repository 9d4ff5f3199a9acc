import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  cutToWidth,
  displayWidth,
  formatCount,
  formatLabelled,
  graphemesOf,
  joinFirst,
  joinWithOr,
  padToWidth,
  splitToWidth,
  wrap,
  wrapBreakingWords,
} from "./text.ts";

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
    expect(wrapBreakingWords("a extraordinarily b", 6)).toEqual(["a", "extrao", "rdinar", "ily b"]);
    expect(wrapBreakingWords("", 6)).toEqual([""]);
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

describe("columns of a terminal", () => {
  it.each([
    ["", 0],
    ["plain", 5],
    ["Zürich", 6],
    ["Zu\u0308rich", 6],
    ["日本", 4],
    ["⺀", 2],
    ["🎠", 2],
    ["👩‍🚀", 2],
    ["🇨🇭", 2],
    ["ｆｕｌｌ", 8],
    ["\u200b\u200d\u0301", 0],
    ["\ufffc🤍⺀🎠", 7],
    ["\u001b[31mred\u001b[39m", 3],
    ["\ud83e", 0],
  ])("%j takes %i", (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
  });

  it.each([
    ["🤍⺀🎠", 3, "🤍"],
    ["🤍⺀🎠", 4, "🤍⺀"],
    ["e\u0301a", 1, "e\u0301"],
    ["👩‍🚀x", 1, ""],
    ["abc", 2, "ab"],
    ["abc", 9, "abc"],
  ])("%j cut to %i is %j", (text, columns, cut) => {
    expect(cutToWidth(text, columns)).toBe(cut);
  });

  it("are filled up with blanks", () => {
    expect([padToWidth("日本", 6), padToWidth("日本", 6, "right"), padToWidth("日本", 3)]).toEqual([
      "日本  ",
      "  日本",
      "日本",
    ]);
  });

  it("break a text between its letters, and lose nothing of it", () => {
    expect(splitToWidth("\ufffc🤍⺀🎠", 3)).toEqual(["\ufffc🤍", "⺀", "🎠"]);
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.integer({ min: 2, max: 20 }), (text, columns) => {
        const parts = splitToWidth(text, columns);
        expect(parts.join("")).toBe(text);
        expect(parts.flatMap(graphemesOf)).toEqual(graphemesOf(text));
        for (const part of parts) expect(displayWidth(part)).toBeLessThanOrEqual(columns);
      }),
      { seed: 1 },
    );
  });
});
