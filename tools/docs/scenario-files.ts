import { readFileSync } from "node:fs";

import { scenarios } from "../../src/load/scenarios.ts";

/** Returns the text of a scenario's k6 script. Users can run the script with `k6 run`, without `conformance load`. */
export function k6Script(name: string): string {
  const constant = name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return `import { ${constant} } from "../scenarios/${name}.ts";
import { loadTest } from "./lib/load-test.ts";

// \`npm run docs\` generates this file from the list of scenarios.

export const { options, setup, run, handleSummary } = loadTest(${constant});

export default run;
`;
}

const tableLines = /^\| scenario .*(?:\n\|.*)*$/m;

export function scenariosPage(): string {
  const page = readFileSync(new URL("../../scenarios/README.md", import.meta.url), "utf8");
  const rows = scenarios.map(({ name, sends, title }) => [`\`${name}\``, sends, title]);
  const heads = ["scenario", "what it sends", "what must hold"];
  const widths = heads.map((_, at) => Math.max(...[heads, ...rows].map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[], fill = " "): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0, fill)).join(" | ")} |`;
  const table = [line(heads), line(["", "", ""], "-"), ...rows.map((row) => line(row))];
  return page.replace(tableLines, () => table.join("\n"));
}
