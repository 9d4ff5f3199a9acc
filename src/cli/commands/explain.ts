import { Command } from "commander";

import { clauseOf } from "../../spec/clauses.ts";
import { readClauseId } from "../catalogue/clause-id.ts";

/** `conformance explain ID`: one clause with its checks, probes, needs, readings and faults. */
export function explainCommand(): Command {
  return new Command("explain")
    .argument("<clause>", "clause id, such as SSE-5")
    .addHelpText("after", "\nExamples:\n  conformance explain SSE-5\n  conformance explain LIM-3 | less")
    .action(async (text: string) => {
      const id = readClauseId(text);
      const { catalogue } = await import("../catalogue/of-this-version.ts");
      const { section, level, says, readings, untestable } = clauseOf(id);
      const lines = [
        `${id} (${level}) — ${section}`,
        "",
        `  ${says}`,
        ...(readings === undefined
          ? []
          : ["", "Readings:", ...Object.entries(readings).map(([name, is]) => `  ${name}: ${is}`)]),
        ...(untestable === undefined ? [] : ["", `Not testable: ${untestable}`]),
        ...catalogue[id].lines,
      ];
      process.stdout.write(`${lines.join("\n")}\n`);
    });
}
