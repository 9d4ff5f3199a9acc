import { stripVTControlCharacters } from "node:util";

import { describe, expect, it } from "vitest";

import { createPaint } from "../../base/text.ts";
import { type TableColumn, tableLines, widestCell } from "./section-lines.ts";

const column = (head: string, align: TableColumn["align"], width: TableColumn["width"] = widestCell): TableColumn => ({
  head,
  align,
  width,
});

describe("a table", () => {
  it("is as wide as its widest cells, without trailing blanks", () => {
    const lines = tableLines(
      [column("name", "left"), column("count", "right"), column("", "left")],
      [
        ["日本", "1", ""],
        ["a", "1,000,000", "x"],
      ],
    );
    expect(lines).toEqual(["name      count", "日本          1", "a     1,000,000  x"]);
  });

  it("wraps a cell, breaks long words, and colours each line on its own", () => {
    const { red, bold } = createPaint(true);
    const columns = [column("a", "left", { kind: "wrapped", columns: 5 }), column("b", "left")];
    expect(
      tableLines(columns, [
        ["one two three", "x"],
        ["🤍⺀🎠", "y"],
      ]),
    ).toEqual(["a      b", "one    x", "two", "three", "🤍⺀   y", "🎠"]);
    const lines = tableLines(columns, [[bold(red("one two")), ""]]).slice(1);
    expect(lines.map(stripVTControlCharacters)).toEqual(["one", "two"]);
    for (const line of lines) for (const code of [1, 22, 31, 39]) expect(line).toContain(`\u001b[${code}m`);
  });

  it("cuts a cell with a mark", () => {
    const columns = [column("a", "left", { kind: "cut", columns: 4 }), column("b", "left")];
    expect(
      tableLines(columns, [
        ["abcde", "x"],
        ["⺀⺀⺀", "y"],
        ["abcd", "z"],
      ]),
    ).toEqual(["a     b", "abc…  x", "⺀…   y", "abcd  z"]);
  });
});
