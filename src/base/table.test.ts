import { describe, expect, it } from "vitest";

import { paintFor } from "./paint.ts";
import { type TableColumn, tableLines, widest } from "./table.ts";

const column = (head: string, align: TableColumn["align"], width: TableColumn["width"] = widest): TableColumn => ({
  head,
  align,
  width,
});

describe("a table", () => {
  it("is as wide as its widest cells, and no line ends with blanks", () => {
    const lines = tableLines(
      [column("name", "left"), column("count", "right"), column("", "left")],
      [
        ["日本", "1", ""],
        ["a", "1,000,000", "x"],
      ],
    );
    expect(lines).toEqual(["name      count", "日本          1", "a     1,000,000  x"]);
  });

  it("wraps a cell within its column, breaks words that are longer, and keeps each line's colours to itself", () => {
    const { red, bold } = paintFor(true);
    const columns = [column("a", "left", { kind: "wrapped", columns: 5 }), column("b", "left")];
    expect(
      tableLines(columns, [
        ["one two three", "x"],
        ["🤍⺀🎠", "y"],
      ]),
    ).toEqual(["a      b", "one    x", "two", "three", "🤍⺀   y", "🎠"]);
    expect(tableLines(columns, [[bold(red("one two")), ""]]).slice(1)).toEqual(
      [bold(red("one")), bold(red("two"))].map((line) => expect.stringContaining(line) as string),
    );
  });

  it("cuts a cell, with a mark", () => {
    const columns = [column("a", "left", { kind: "cut", columns: 4 }), column("b", "left")];
    expect(
      tableLines(columns, [
        ["abcde", "x"],
        ["⺀⺀⺀", "y"],
        ["abcd", "z"],
      ]),
    ).toEqual(["a     b", "abc…  x", "⺀…   y", "abcd  z"]);
  });

  it("lets a row of one cell stand across all columns", () => {
    expect(tableLines([column("a", "left"), column("b", "right")], [["a longer line"], ["1", "2"]])).toEqual([
      "a  b",
      "a longer line",
      "1  2",
    ]);
  });
});
