import { Command } from "commander";

import { clauseOf } from "../../interface/clauses.ts";
import { type Check, probesOf } from "../../run/check.ts";
import { need } from "../../run/lack.ts";
import type { Patch } from "../../reference/patch.ts";
import { allFaults, allVariants } from "../../reference/patches.ts";
import { cellName } from "../../run/universe.ts";
import { suites } from "../../suites/all.ts";
import { checksOf, readClauseId } from "../catalogue.ts";
import { cliWording } from "../wording.ts";

/** `conformance explain ID`: one clause with its checks, probes, needs, readings and faults. */
export function explainCommand(): Command {
  return new Command("explain")
    .argument("<clause>", "clause id, such as SSE-5")
    .description("Explain one clause: what it says, how it is judged, what is needed, what breaks it.")
    .addHelpText("after", "\nExamples:\n  conformance explain SSE-5\n  conformance explain LIM-3 | less")
    .action((text: string) => {
      const id = readClauseId(text);
      const { section, level, says, readings, untestable } = clauseOf(id);
      const checks = checksOf(suites, id);
      const faults = allFaults.filter(({ breaks }) => breaks.includes(id));
      const variants = allVariants.filter(({ breaks }) => breaks.includes(id));
      const lines = [
        `${id} (${level}) — ${section}`,
        "",
        `  ${says}`,
        ...(readings === undefined
          ? []
          : ["", "Readings:", ...Object.entries(readings).map(([name, is]) => `  ${name}: ${is}`)]),
        ...(untestable === undefined ? [] : ["", `Not testable: ${untestable}`]),
        ...checks.flatMap(describe),
        ...patchesUnder("Faults of the reference server that break it:", faults),
        ...patchesUnder("Legal behaviours of the reference server that draw its note:", variants),
      ];
      process.stdout.write(`${lines.join("\n")}\n`);
    });
}

const patchesUnder = (heading: string, patches: readonly Patch[]): string[] =>
  patches.length === 0 ? [] : ["", heading, ...patches.map(({ name, summary }) => `  ${name}: ${summary}`)];

function describe(check: Check): string[] {
  const probes = Object.values(probesOf(check.on));
  return [
    "",
    `Check ${check.id}`,
    ...universeLines(check),
    ...probes.map(({ name, lane }) => `  probe: ${name} (${lane})`),
    ...[...new Set(probes.flatMap(({ needs }) => needs))].map((each) => `  needs: ${cliWording.needs(need(each))}`),
  ];
}

/** The set that a check speaks of, and its parts by what it takes to see them. */
function universeLines({ universe }: Check): string[] {
  if (universe === null) return [];
  const byReach = Map.groupBy(universe.cells, ({ reach }) => (reach === null ? "" : cliWording.needs(reach)));
  return [
    `  judged on: ${universe.says}`,
    ...[...byReach].map(
      ([reach, cells]) => `    ${cells.map(cellName).join(", ")}${reach === "" ? "" : ` (takes ${reach})`}`,
    ),
  ];
}
