import type { Figures } from "./figures.ts";
import { machineText } from "./table.ts";
import { type Cells, cellsOf, heads } from "./words.ts";

const shown = [
  "name",
  "what",
  "against",
  "subject",
  "baseline",
  "ratio",
  "cpu",
  "goal",
  "met",
] as const satisfies readonly (keyof Cells)[];

const begin = "<!-- The bench writes from here: npm run bench -- --write -->";
const end = "<!-- to here. -->";

/** What the bench writes into `docs/performance.md`: where it was measured, and the table. */
export function markdownOf(figures: Figures): string {
  const rows = figures.rows.map(cellsOf).map((cells) => shown.map((name) => cells[name].replaceAll("|", "\\|")));
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const dates = figures.rows.map(({ at }) => at.slice(0, 10)).toSorted();
  const [first = "never"] = dates;
  const last = dates.at(-1) ?? first;
  return [
    `Measured on ${machineText(figures.machine)}, ${first === last ? `on ${first}` : `between ${first} and ${last}`}.`,
    "",
    line(shown.map((name) => heads[name])),
    line(shown.map(() => "---")),
    ...rows.map(line),
  ].join("\n");
}

/**
 * The page with other figures in it.
 *
 * @throws {Error} where the page has no place for them
 */
export function withFigures(page: string, figures: Figures): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error("the page has no place for the figures of the bench");
  return `${page.slice(0, from + begin.length)}\n\n${markdownOf(figures)}\n\n${page.slice(to)}`;
}
