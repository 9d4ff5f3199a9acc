import { Command } from "commander";

import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { type ClauseId, clauseIds, clauseOf, isClauseId } from "../../spec/clauses.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";

/** `conformance explain ID`: shows a clause, its checks and what they need, its readings, and the faults that break it. */
export const explainCommand = (): Command =>
  withSteps(
    new Command("explain")
      .argument("<clause>", "clause id, such as SSE-5")
      .addHelpText("after", "\nExamples:\n  conformance explain SSE-5\n  conformance explain LIM-3 | less"),
    {
      prepare: readClauseId,
      act: explain,
      present: (lines) => {
        process.stdout.write(`${lines.join("\n")}\n`);
        return exitCodes.fine;
      },
    },
  );

async function explain(id: ClauseId): Promise<string[]> {
  const { catalogue } = await import("../catalogue/catalogue.ts");
  const { section, level, party, since, says, readings = {}, untestable } = clauseOf(id);
  const readingLines = Object.entries(readings).map(([name, meaning]) => `  ${name}: ${meaning}`);
  return [
    `${id} (${level}, ${party === "server" ? "" : `for a ${party}, `}since ${since}) — ${section}`,
    "",
    `  ${says}`,
    ...(readingLines.length === 0 ? [] : ["", "Readings:", ...readingLines]),
    ...(untestable === undefined ? [] : ["", `Not testable: ${untestable}`]),
    ...catalogue[id].lines,
  ];
}

/**
 * Reads the id of a clause.
 *
 * @throws {UsageError} if the id is unknown; the message suggests ids of the same section, or lists the sections
 */
function readClauseId(text: string): ClauseId {
  const id = text.toUpperCase();
  if (isClauseId(id)) return id;
  const prefixOf = (each: string): string => each.split("-")[0] ?? "";
  const sameSection = clauseIds.filter((each) => prefixOf(each) === prefixOf(id));
  const known =
    sameSection.length > 0
      ? `${sameSection[0]} to ${sameSection.at(-1)}`
      : [...new Set(clauseIds.map((each) => `${prefixOf(each)}-*`))].join(", ");
  throw new UsageError(line`There is no clause ${JSON.stringify(text)}. There are: ${known}.`);
}
