import { Command } from "commander";

import { line, UsageError } from "../../base/line.ts";
import { type ClauseId, clauseIds, clauseOf, isClauseId } from "../../spec/clauses.ts";
import { printResult, withSteps } from "../command.ts";

/** `conformance explain`: shows a clause by its id, or lists the clauses that contain all given words. */
export const explainCommand = (): Command =>
  withSteps(
    new Command("explain")
      .argument("<clause...>", "clause id, such as SSE-5; or words that a clause has, such as rate limit")
      .addHelpText("after", "\nExamples:\n  conformance explain SSE-5\n  conformance explain rate limit"),
    {
      prepare: readClauses,
      act: async (found) => {
        const lines = found.kind === "clause" ? await explain(found.id) : found.ids.map(lineOf);
        return `${lines.join("\n")}\n`;
      },
      present: printResult,
    },
  );

async function explain(id: ClauseId): Promise<string[]> {
  const { clauseCatalogue } = await import("../catalogue/catalogue.ts");
  const { section, level, party, since, says, readings = {}, untestable } = clauseOf(id);
  const readingLines = Object.entries(readings).map(([name, meaning]) => `  ${name}: ${meaning}`);
  return [
    `${id} (${level}, ${party === "server" ? "" : `for a ${party}, `}since ${since}) — ${section}`,
    "",
    `  ${says}`,
    ...(readingLines.length === 0 ? [] : ["", "Readings:", ...readingLines]),
    ...(untestable === undefined ? [] : ["", `Not testable: ${untestable}`]),
    ...clauseCatalogue[id].lines,
  ];
}

function lineOf(id: ClauseId): string {
  const { level, says } = clauseOf(id);
  return `${id.padEnd(8)} ${level.padEnd(8)} ${says}`;
}

type FoundClauses =
  | { readonly kind: "clause"; readonly id: ClauseId }
  | { readonly kind: "clauses"; readonly ids: readonly ClauseId[] };

function readClauses(given: readonly string[]): FoundClauses {
  const [first = "", ...others] = given;
  const id = first.toUpperCase();
  if (others.length === 0 && isClauseId(id)) return { kind: "clause", id };
  const words = given.flatMap((each) => each.toLowerCase().split(/\s+/)).filter((word) => word !== "");
  const ids = clauseIds.filter((each) => {
    const { section, says, readings = {} } = clauseOf(each);
    const text = [each, section, says, ...Object.values(readings)].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  if (words.length > 0 && ids.length > 0) return { kind: "clauses", ids };
  const prefixOf = (each: string): string => each.split("-")[0] ?? "";
  const sameSection = clauseIds.filter((each) => prefixOf(each) === prefixOf(id));
  const known =
    sameSection.length > 0
      ? `${sameSection[0]} to ${sameSection.at(-1)}`
      : [...new Set(clauseIds.map((each) => `${prefixOf(each)}-*`))].join(", ");
  if (!/^[a-z]+-\d+$/i.test(first))
    throw new UsageError(line`No clause has the words ${JSON.stringify(words.join(" "))}. There are: ${known}.`);
  throw new UsageError(line`There is no clause ${JSON.stringify(first)}. There are: ${known}.`);
}
