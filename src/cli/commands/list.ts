import { Command } from "commander";

import { type TableColumn, tableLines, widestCell } from "../../report/terminal/section-lines.ts";
import {
  countsIn,
  newestRequirementsOfAnyParty,
  type Level,
  parties,
  type Party,
  type RequirementSet,
  requirementSets,
} from "../../spec/clause.ts";
import { clauseIds, clauseOf, levels } from "../../spec/clauses.ts";
import { printResult, withSteps } from "../command.ts";
import { type FlagsOf, readRequirements, readChoice, withOptions } from "../options.ts";

const listOptions = {
  "--level <level>": "only clauses of this level: must, should, advisory, gap, policy",
  "--party <party>": `only clauses that bind this party: ${parties.join(", ")}`,
  "--requirements <set>": `only clauses and checks of this requirement set: ${requirementSets.join(", ")}`,
  "--json": "as JSON",
} as const;

/** `conformance list`: lists the clauses, with their levels and checks. */
export const listCommand = (): Command =>
  withSteps(
    withOptions(new Command("list"), listOptions).addHelpText(
      "after",
      "\nExamples:\n  conformance list --level must\n  conformance list --party client\n  conformance list --json | jq '.[].id'",
    ),
    {
      prepare: ({ level, party, requirements = newestRequirementsOfAnyParty, json }: FlagsOf<typeof listOptions>) => ({
        level: readChoice(level, "--level", levels),
        party: readChoice(party, "--party", parties),
        set: readRequirements({ requirements }),
        isJson: json === true,
      }),
      act: async ({ level, party, set, isJson }) => {
        const rows = await rowsOf(level, party, set);
        return `${isJson ? JSON.stringify(rows, null, 2) : tableOf(rows)}\n`;
      },
      present: printResult,
    },
  );

async function rowsOf(wantedLevel: Level | null, wantedParty: Party | null, set: RequirementSet) {
  const { clauseCatalogue } = await import("../catalogue/catalogue.ts");
  return clauseIds
    .map((id) => {
      const checks = clauseCatalogue[id].checks.filter(({ since }) => countsIn(since, set));
      const sinceByCheck = Object.fromEntries(checks.map((check) => [check.id, check.since]));
      return { id, ...clauseOf(id), checks: checks.map((check) => check.id), sinceByCheck };
    })
    .filter(
      ({ level, party, since }) =>
        countsIn(since, set) &&
        (wantedLevel === null || level === wantedLevel) &&
        (wantedParty === null || party === wantedParty),
    );
}

/** Width reserved for all columns except `says`, and for the gaps between columns. */
const otherColumnsWidth = 51;

function tableOf(rows: Awaited<ReturnType<typeof rowsOf>>): string {
  const columns = Math.max(20, (process.stdout.columns ?? 120) - otherColumnsWidth);
  const heads: readonly TableColumn[] = [
    { head: "clause", align: "left", width: widestCell },
    { head: "level", align: "left", width: widestCell },
    { head: "party", align: "left", width: widestCell },
    { head: "since", align: "left", width: widestCell },
    { head: "says", align: "left", width: { kind: "wrapped", columns } },
    { head: "checks", align: "left", width: widestCell },
  ];
  const cells = rows.map(({ id, level, party, since, says, untestable, checks }) => [
    id,
    level,
    party,
    since,
    says,
    untestable === undefined ? String(checks.length) : untestedText(party),
  ]);
  const notes = rows.some(({ party }) => party === "file") ? ["", configNote] : [];
  return [...tableLines(heads, cells), ...notes].join("\n");
}

const untestedText = (party: Party): string => (party === "file" ? "by config" : "not testable");

const configNote =
  "by config: no request shows a configuration file. `conformance config FILE` judges what these clauses say of it.";
