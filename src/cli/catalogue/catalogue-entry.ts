import type { Patch } from "../../reference/patch.ts";
import { type Check, probesOf, type Suite } from "../../run/judge/check.ts";
import { cellName } from "../../run/judge/finding.ts";
import { need } from "../../run/skip-reason.ts";
import type { ClauseId } from "../../spec/clauses.ts";
import { cliMessages } from "../messages.ts";

export function catalogueEntryOf(
  id: ClauseId,
  suites: readonly Suite[],
  faults: readonly Patch[],
  variants: readonly Patch[],
): CatalogueEntry {
  const checks = suites.flatMap((suite) => suite.checks.filter(({ clause }) => clause === id));
  const breaking = ({ breaks }: Patch): boolean => breaks.includes(id);
  return {
    checks: checks.map((check) => ({ id: check.id, since: check.since })),
    lines: [
      ...checks.flatMap(describe),
      ...patchesUnder("Faults of the reference server that break it:", faults.filter(breaking)),
      ...patchesUnder("Legal behaviours of the reference server that draw its note:", variants.filter(breaking)),
    ],
  };
}

const patchesUnder = (heading: string, patches: readonly Patch[]): string[] =>
  patches.length === 0 ? [] : ["", heading, ...patches.map(({ name, summary }) => `  ${name}: ${summary}`)];

function describe(check: Check): string[] {
  const probes = Object.values(probesOf(check.on));
  return [
    "",
    `Check ${check.id} (since ${check.since})`,
    ...matrixLines(check),
    ...probes.map(({ name, stage }) => `  probe: ${name} (${stage})`),
    ...[...new Set(probes.flatMap(({ needs }) => needs))].map((each) => `  needs: ${cliMessages.needs(need(each))}`),
  ];
}

function matrixLines({ matrix }: Check): string[] {
  if (matrix === null) return [];
  const byReach = Map.groupBy(matrix.cells, ({ reach }) => (reach === null ? "" : cliMessages.needs(reach)));
  return [
    `  judged on: ${matrix.description}`,
    ...[...byReach].map(
      ([reach, cells]) => `    ${cells.map(cellName).join(", ")}${reach === "" ? "" : ` (takes ${reach})`}`,
    ),
  ];
}

interface CatalogueEntry {
  readonly checks: readonly Pick<Check, "id" | "since">[];
  readonly lines: readonly string[];
}

/** The checks of every clause, and the text that explains them. Plain JSON, because the build bundles it as data. */
export type ClauseCatalogue = Readonly<Record<ClauseId, CatalogueEntry>>;
