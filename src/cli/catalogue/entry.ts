import type { Patch } from "../../reference/patch.ts";
import { type Check, probesOf, type Suite } from "../../run/judge/check.ts";
import { cellName } from "../../run/judge/coverage.ts";
import { need } from "../../run/skip-reason.ts";
import type { ClauseId } from "../../spec/clauses.ts";
import { cliMessages } from "../messages.ts";

/** Patches of the reference server, by whether they are legal. */
interface Patches {
  readonly faults: readonly Patch[];
  readonly variants: readonly Patch[];
}

/** What suites and patches have on one clause. */
export function entryOf(id: ClauseId, suites: readonly Suite[], { faults, variants }: Patches): CatalogueEntry {
  const checks = suites.flatMap((suite) => suite.checks.filter(({ clause }) => clause === id));
  const breaking = ({ breaks }: Patch): boolean => breaks.includes(id);
  return {
    checks: checks.map((check) => check.id),
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
    `Check ${check.id}`,
    ...universeLines(check),
    ...probes.map(({ name, stage }) => `  probe: ${name} (${stage})`),
    ...[...new Set(probes.flatMap(({ needs }) => needs))].map((each) => `  needs: ${cliMessages.needs(need(each))}`),
  ];
}

/** The set that a check speaks of, and its parts by what it takes to see them. */
function universeLines({ matrix }: Check): string[] {
  if (matrix === null) return [];
  const byReach = Map.groupBy(matrix.cells, ({ reach }) => (reach === null ? "" : cliMessages.needs(reach)));
  return [
    `  judged on: ${matrix.description}`,
    ...[...byReach].map(
      ([reach, cells]) => `    ${cells.map(cellName).join(", ")}${reach === "" ? "" : ` (takes ${reach})`}`,
    ),
  ];
}

/** What the suites and the reference server know of one clause, as texts. */
export interface CatalogueEntry {
  /** Ids of its checks. */
  readonly checks: readonly string[];
  /** Its checks with what they need, and the patches of the reference server that break it: lines for people. */
  readonly lines: readonly string[];
}

/** Data alone, so that it can be written as JSON. */
export type Catalogue = Readonly<Record<ClauseId, CatalogueEntry>>;
