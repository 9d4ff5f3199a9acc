import Table from "cli-table3";

const gap = 2;
/** Least width of a vendor's column, the gap before it included. */
export const leastColumn = 19;
export const labelWidth = 22;
const mostColumn = 48;

const borderless = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"].flatMap((side) =>
    [side, `${side}-mid`, `${side}-left`, `${side}-right`].map((name) => [name, ""]),
  ),
);

/** A table without borders: a column of labels, and one for each vendor, in which long texts are wrapped. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const columns = head.length - 1;
  const each = Math.min(mostColumn, Math.max(leastColumn, Math.floor((width - labelWidth) / columns)) - gap);
  const table = new Table({
    head: [...head],
    chars: { ...borderless, middle: " ".repeat(gap) },
    colWidths: [labelWidth, ...Array.from({ length: columns }, () => each)],
    wordWrap: true,
    wrapOnWordBoundary: true,
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
  });
  for (const row of rows) table.push(row.map((text, at) => (at === 0 ? text : breakable(text, each - gap))));
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** A word that is longer than a column is broken, since the table would cut it off. */
const breakable = (text: string, width: number): string =>
  text.includes("\u001b") ? text : text.replace(new RegExp(`\\S{${width}}(?=\\S)`, "gu"), "$& ");
