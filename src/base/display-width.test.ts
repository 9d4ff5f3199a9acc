import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { splitToWidth, cutToWidth, displayWidth, graphemesOf, padToWidth } from "./display-width.ts";

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
