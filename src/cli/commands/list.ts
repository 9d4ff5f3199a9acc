import { Command } from "commander";

import { type TableColumn, tableLines, widestCell } from "../../report/terminal/table.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { parties, type Party } from "../../spec/clause.ts";
import { clauseIds, clauseOf, levels } from "../../spec/clauses.ts";
import { countsIn, latestRequirements, type RequirementSet, requirementSets } from "../../spec/requirements.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { readRequirements, type RequirementsFlag } from "../requirements-flag.ts";

interface ListFlags extends RequirementsFlag {
  readonly level?: string;
  readonly party?: string;
  readonly json?: boolean;
}

/** `conformance list`: lists every clause, with its level and its checks. */
export const listCommand = (): Command =>
  withSteps(
    new Command("list")
      .option("--level <level>", "only clauses of this level: must, should, advisory, gap, policy")
      .option("--party <party>", `only clauses that bind this party: ${parties.join(", ")}`)
      .option("--requirements <set>", `only clauses and checks of this requirement set: ${requirementSets.join(", ")}`)
      .option("--json", "as JSON")
      .addHelpText(
        "after",
        "\nExamples:\n  conformance list --level must\n  conformance list --party client\n  conformance list --json | jq '.[].id'",
      ),
    {
      prepare: (flags: ListFlags) => {
        if (flags.level !== undefined && !levels.some((level) => level === flags.level))
          throw new UsageError(line`--level is ${JSON.stringify(flags.level)}; allowed: ${levels.join(", ")}.`);
        const { requirements = latestRequirements } = flags;
        return { ...flags, party: partyIn(flags), set: readRequirements({ requirements }) };
      },
      act: ({ level, party, set }) => rowsOf(level, party, set),
      present: (rows, { json }) => {
        process.stdout.write(`${json === true ? JSON.stringify(rows, null, 2) : tableOf(rows)}\n`);
        return exitCodes.fine;
      },
    },
  );

/**
 * Reads `--party`; `null` if it is not given.
 *
 * @throws {UsageError} if there is no such party
 */
function partyIn({ party }: ListFlags): Party | null {
  if (party === undefined) return null;
  const known = parties.find((each) => each === party);
  if (known !== undefined) return known;
  throw new UsageError(line`--party is ${JSON.stringify(party)}; allowed: ${parties.join(", ")}.`);
}

async function rowsOf(wantedLevel: string | undefined, wantedParty: Party | null, set: RequirementSet) {
  const { catalogue } = await import("../catalogue/catalogue.ts");
  return clauseIds
    .map((id) => {
      const checks = catalogue[id].checks.filter(({ since }) => countsIn(since, set));
      const sinceByCheck = Object.fromEntries(checks.map((check) => [check.id, check.since]));
      return { id, ...clauseOf(id), checks: checks.map((check) => check.id), sinceByCheck };
    })
    .filter(
      ({ level, party, since }) =>
        countsIn(since, set) &&
        (wantedLevel === undefined || level === wantedLevel) &&
        (wantedParty === null || party === wantedParty),
    );
}

/** Width of all columns except the sentence of the clause, with the gaps between columns. */
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

/** The text in the checks column for a clause that no run can test. */
const untestedText = (party: Party): string => (party === "file" ? "by config" : "not testable");

const configNote =
  "by config: no request shows a configuration file. `conformance config FILE` judges what these clauses say of it.";
