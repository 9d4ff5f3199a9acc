import { clauseIds, clauseOf, isClauseId } from "../../spec/clauses.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { joinFirst } from "../../base/text.ts";
import type { Outcome, ReportFinding, RowLevel } from "../model/report.ts";
import { clauseOutcomes } from "../model/verdict.ts";
import { mapJudged, type Vendor } from "./vendor.ts";

/** What became of a clause at one vendor. `absent`: its report has no row of it. */
export interface ClauseCell {
  readonly outcome: Outcome | "absent";
  /** What was expected and what came, or why it was skipped; empty where the outcome says it all. */
  readonly text: string;
}

export interface ClauseRow {
  readonly clause: string;
  readonly level: RowLevel;
  readonly says: string;
  readonly cells: readonly (ClauseCell | null)[];
  /** Whether two vendors of which it was judged differ in the outcome: what a selection left out is nothing of the vendor's. */
  readonly differs: boolean;
}

export interface ClauseSection {
  readonly title: string;
  readonly rows: readonly ClauseRow[];
}

/** Clauses that a vendor's report has a row of, by section in the reports' order, then in the document's. Gaps have a table of their own. */
export function clauseSections(vendors: readonly Vendor[]): ClauseSection[] {
  const findings = mapJudged(vendors, ({ document }) => document.report.findings);
  const judged = findings.flatMap((each) => each ?? []).filter(({ level }) => level !== "gap");
  const titles = [...new Set(judged.map(({ suite }) => suite))];
  const columns = findings.map((each) => (each === null ? null : columnOf(each)));
  return titles.map((title) => {
    const clauses = [
      ...new Map(judged.filter(({ suite }) => suite === title).map((each) => [each.clause, each])).values(),
    ];
    return { title: sanitizeLine(title, 80), rows: inOrder(clauses).map((each) => rowOf(each, columns)) };
  });
}

/** In the document's order; what it does not have comes last. */
const inOrder = (findings: readonly ReportFinding[]): ReportFinding[] =>
  findings.toSorted((one, other) => placeOf(one.clause) - placeOf(other.clause));

const places = new Map<string, number>(clauseIds.map((id, at) => [id, at]));
const placeOf = (clause: string): number => places.get(clause) ?? clauseIds.length;

/** Rows of one vendor by clause, and the worst outcome of each. */
interface Column {
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly rows: ReadonlyMap<string, readonly ReportFinding[]>;
}

const columnOf = (findings: readonly ReportFinding[]): Column => ({
  outcomes: clauseOutcomes(findings),
  rows: Map.groupBy(findings, ({ clause }) => clause),
});

function rowOf({ clause, level }: ReportFinding, columns: readonly (Column | null)[]): ClauseRow {
  const cells = columns.map((column) => (column === null ? null : cellOf(clause, column)));
  const outcomes = new Set(cells.flatMap((cell) => (cell === null || cell.outcome === "absent" ? [] : [cell.outcome])));
  const says = isClauseId(clause) ? clauseOf(clause).says : "";
  return { clause: sanitizeLine(clause, 40), level, says, cells, differs: outcomes.size > 1 };
}

function cellOf(clause: string, { outcomes, rows }: Column): ClauseCell {
  const outcome = outcomes.get(clause);
  if (outcome === undefined) return { outcome: "absent", text: "" };
  const members = (rows.get(clause) ?? []).filter((row) => row.outcome === outcome);
  const [first] = members;
  if (first === undefined || outcome === "pass" || outcome === "observed") return { outcome, text: "" };
  const instances = members.flatMap(({ instance }) => (instance === undefined ? [] : [sanitizeLine(instance, 40)]));
  const where = instances.length === 0 ? "" : ` (${joinFirst([...new Set(instances)], 4)})`;
  return { outcome, text: `${wordsOf(first)}${where}` };
}

function wordsOf({ expected, actual, reason, needs }: ReportFinding): string {
  if (expected !== undefined) return `expected ${sanitizeLine(expected, 200)}; got ${sanitizeLine(actual ?? "", 200)}`;
  const enables = needs === undefined ? "" : `; needs ${sanitizeLine(needs, 120)}`;
  return `${sanitizeLine(reason ?? "", 200)}${enables}`;
}
