import { clauseSentence } from "../model/finding-text.ts";
import { clauseIds } from "../../spec/clauses.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { joinFirst } from "../../base/text.ts";
import type { Outcome, ReportFinding, RowLevel } from "../model/finding.ts";
import { clauseOutcomes } from "../model/verdict.ts";
import { mapJudged, type Vendor } from "./vendor.ts";
import { isEquivalentText } from "../compare/find-changes.ts";
import { presenceReadings } from "../model/report-sections.ts";

/** The result of a clause for one vendor. `absent`: the vendor's report has no finding of the clause. */
export interface ClauseCell {
  readonly outcome: Outcome | "absent";
  /** `expected 200; got 500`, or for example the reason for a skip. Empty for `pass`, `observed` and `absent`. */
  readonly text: string;
}

export interface ClauseRow {
  readonly clause: string;
  readonly level: RowLevel;
  readonly says: string;
  readonly cells: readonly (ClauseCell | null)[];
  /** Whether the outcomes of vendors differ. Ignores vendors that have no finding of the clause. */
  readonly differs: boolean;
}

export interface ClauseSection {
  readonly title: string;
  readonly rows: readonly ClauseRow[];
}

export function clauseSections(vendors: readonly Vendor[]): ClauseSection[] {
  const findings = mapJudged(vendors, ({ document }) => document.report.findings);
  const judged = findings.flatMap((each) => each ?? []).filter(({ level }) => level !== "gap");
  const titles = [...new Set(judged.map(({ suite }) => suite))];
  const columns = findings.map((each) => (each === null ? null : vendorClausesOf(each)));
  return titles.map((title) => {
    const clauses = [
      ...new Map(judged.filter(({ suite }) => suite === title).map((each) => [each.clause, each])).values(),
    ];
    return { title: sanitizeLine(title, 80), rows: inDocumentOrder(clauses).map((each) => clauseRow(each, columns)) };
  });
}

const inDocumentOrder = (findings: readonly ReportFinding[]): ReportFinding[] =>
  findings.toSorted((one, other) => clauseIndex(one.clause) - clauseIndex(other.clause));

const clauseIndexes = new Map<string, number>(clauseIds.map((id, at) => [id, at]));
const clauseIndex = (clause: string): number => clauseIndexes.get(clause) ?? clauseIds.length;

interface VendorClauses {
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly rows: ReadonlyMap<string, readonly ReportFinding[]>;
}

const vendorClausesOf = (findings: readonly ReportFinding[]): VendorClauses => ({
  outcomes: clauseOutcomes(findings),
  rows: Map.groupBy(findings, ({ clause }) => clause),
});

function clauseRow({ clause, level }: ReportFinding, columns: readonly (VendorClauses | null)[]): ClauseRow {
  const cells = columns.map((column) => (column === null ? null : clauseCell(clause, column)));
  const outcomes = new Set(cells.flatMap((cell) => (cell === null || cell.outcome === "absent" ? [] : [cell.outcome])));
  const says = clauseSentence(clause);
  return { clause: sanitizeLine(clause, 40), level, says, cells, differs: outcomes.size > 1 };
}

function clauseCell(clause: string, { outcomes, rows }: VendorClauses): ClauseCell {
  const outcome = outcomes.get(clause);
  if (outcome === undefined) return { outcome: "absent", text: "" };
  const members = (rows.get(clause) ?? []).filter((row) => row.outcome === outcome);
  const [first] = members;
  if (first === undefined || outcome === "pass" || outcome === "observed") return { outcome, text: "" };
  const instances = members.flatMap(({ instance }) => (instance === undefined ? [] : [sanitizeLine(instance, 40)]));
  const where = instances.length === 0 ? "" : ` (${joinFirst([...new Set(instances)], 4)})`;
  return { outcome, text: `${formatFinding(first)}${where}` };
}

function formatFinding({ expected, actual, reason, needs }: ReportFinding): string {
  if (expected !== undefined) return `expected ${sanitizeLine(expected, 200)}; got ${sanitizeLine(actual ?? "", 200)}`;
  const enables = needs === undefined ? "" : `; needs ${sanitizeLine(needs, 120)}`;
  return `${sanitizeLine(reason ?? "", 200)}${enables}`;
}

/** The behaviour of each vendor where a clause allows several readings, or where the document is silent. */
export interface BehaviourRow {
  readonly clause: string;
  readonly check: string;
  readonly says: string;
  /**
   * One text for each vendor: the observed behaviour or, for a gap, `not observed: …` with the reason. `null`: the
   * vendor was not judged. Empty: the vendor's report has no finding.
   */
  readonly cells: readonly (string | null)[];
  readonly differs: boolean;
}

export interface ComparedRow {
  readonly row: BehaviourRow;
  /** Whether two vendors behave differently. Takes their indexes in `row.cells`. */
  readonly areDifferent: (one: number, other: number) => boolean;
}

export function readingRows(vendors: readonly Vendor[]): ComparedRow[] {
  return behaviourRows(
    vendors,
    ({ reading }) => (reading === undefined || presenceReadings.has(reading) ? null : reading),
    "clause",
  );
}

export function gapRows(vendors: readonly Vendor[]): ComparedRow[] {
  const observed = ({ level, outcome, reason }: ReportFinding): string | null => {
    if (level !== "gap") return null;
    return outcome === "observed" ? (reason ?? "") : `${notObservedPrefix}${reason ?? outcome}`;
  };
  return behaviourRows(vendors, observed, "check");
}

export const notObservedPrefix = "not observed: ";

type DescribeFinding = (finding: ReportFinding) => string | null;

function behaviourRows(vendors: readonly Vendor[], textOf: DescribeFinding, by: "clause" | "check"): ComparedRow[] {
  const columns = mapJudged(vendors, ({ document }) =>
    Map.groupBy(
      document.report.findings.filter((finding) => textOf(finding) !== null),
      (finding) => finding[by],
    ),
  );
  const rows = columns.flatMap((column) =>
    column === null ? [] : [...column.values()].flatMap(([first]) => first ?? []),
  );
  const names = [...new Map(rows.map((row) => [row[by], row])).entries()];
  return names
    .toSorted(([, one], [, other]) => clauseIndex(one.clause) - clauseIndex(other.clause))
    .map(([name, { clause }]) => {
      const cells = columns.map((column) => (column === null ? null : joinInstances(column.get(name) ?? [], textOf)));
      const says = clauseSentence(clause);
      const observed = columns.map((column) => observedTexts(column?.get(name) ?? [], textOf));
      const areDifferent = (one: number, other: number): boolean =>
        (observed[one] ?? []).some((each) => (observed[other] ?? []).some(differsFrom(each)));
      const differs = observed.some((_, one) => observed.some((__, other) => one < other && areDifferent(one, other)));
      return {
        row: { clause: sanitizeLine(clause, 40), check: sanitizeLine(name, 80), says, cells, differs },
        areDifferent,
      };
    });
}

const maxTextCharacters = 400;

function joinInstances(findings: readonly ReportFinding[], textOf: DescribeFinding): string {
  const byText = Map.groupBy(findings, (finding) => sanitizeLine(textOf(finding) ?? "", maxTextCharacters));
  if (byText.size <= 1) return [...byText.keys()].join("");
  return [...byText]
    .map(([text, members]) => {
      const instances = members.flatMap(({ instance }) => (instance === undefined ? [] : [sanitizeLine(instance, 40)]));
      return instances.length === 0 ? text : `${instances.join(", ")}: ${text}`;
    })
    .join("; ");
}

interface ObservedText {
  readonly instance: string | undefined;
  readonly text: string;
}

const differsFrom =
  (one: ObservedText) =>
  (other: ObservedText): boolean =>
    one.instance === other.instance && one.text !== other.text && !isEquivalentText(one.text, other.text);

const observedTexts = (findings: readonly ReportFinding[], textOf: DescribeFinding): ObservedText[] =>
  findings.flatMap((finding) => {
    const text = sanitizeLine(textOf(finding) ?? "", maxTextCharacters);
    return text === "" || text.startsWith(notObservedPrefix) ? [] : [{ instance: finding.instance, text }];
  });
