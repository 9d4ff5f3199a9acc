import { clauseIds, clauseOf, isClauseId } from "../../spec/clauses.ts";
import { isEquivalentText } from "../compare/equivalence.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { ReportFinding } from "../model/report.ts";
import { presenceReadings } from "../model/report-sections.ts";
import { mapJudged, type Vendor } from "./vendor.ts";

/** One question, and what each vendor's behaviour answers. */
export interface TextRow {
  readonly clause: string;
  /** `LIM-15/hour`. */
  readonly check: string;
  readonly says: string;
  /** `null` of a vendor that was not judged; empty where it was, and this was not seen. */
  readonly cells: readonly (string | null)[];
  /** Whether two vendors of which it was seen differ in more than times and dates. */
  readonly differs: boolean;
}

/** Which of the admissible readings each vendor follows, where that is more than a field's being there. */
export function readingRows(vendors: readonly Vendor[]): TextRow[] {
  return rowsOf(
    vendors,
    ({ reading }) => (reading === undefined || presenceReadings.has(reading) ? null : reading),
    "clause",
  );
}

/** What each vendor does where the document is silent. */
export function gapRows(vendors: readonly Vendor[]): TextRow[] {
  const observed = ({ level, outcome, reason }: ReportFinding): string | null => {
    if (level !== "gap") return null;
    return outcome === "observed" ? (reason ?? "") : `${notObserved}${reason ?? outcome}`;
  };
  return rowsOf(vendors, observed, "check");
}

/** Marks a text that tells why there is nothing to tell. */
export const notObserved = "not seen: ";

type TextOf = (finding: ReportFinding) => string | null;

function rowsOf(vendors: readonly Vendor[], textOf: TextOf, by: "clause" | "check"): TextRow[] {
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
    .toSorted(([, one], [, other]) => placeOf(one.clause) - placeOf(other.clause))
    .map(([name, { clause }]) => {
      const cells = columns.map((column) => (column === null ? null : joined(column.get(name) ?? [], textOf)));
      const says = isClauseId(clause) ? clauseOf(clause).says : "";
      const differs = doDiffer(columns.map((column) => saidIn(column?.get(name) ?? [], textOf)));
      return { clause: sanitizeLine(clause, 40), check: sanitizeLine(name, 80), says, cells, differs };
    });
}

const placeOf = (clause: string): number => (isClauseId(clause) ? clauseIds.indexOf(clause) : clauseIds.length);

const mostText = 400;

/** Instances that say the same are told once. */
function joined(findings: readonly ReportFinding[], textOf: TextOf): string {
  const byText = Map.groupBy(findings, (finding) => sanitizeLine(textOf(finding) ?? "", mostText));
  if (byText.size <= 1) return [...byText.keys()].join("");
  return [...byText]
    .map(([text, members]) => {
      const instances = members.flatMap(({ instance }) => (instance === undefined ? [] : [sanitizeLine(instance, 40)]));
      return instances.length === 0 ? text : `${instances.join(", ")}: ${text}`;
    })
    .join("; ");
}

/** Whether two vendors say, in the same instance, what cannot come of the same behaviour. */
function doDiffer(columns: readonly (readonly Said[])[]): boolean {
  return columns.some((one, at) =>
    columns.slice(at + 1).some((other) => one.some((said) => other.some(isOther(said)))),
  );
}

interface Said {
  readonly instance: string | undefined;
  readonly text: string;
}

const isOther =
  (one: Said) =>
  (other: Said): boolean =>
    one.instance === other.instance && !isEquivalentText(one.text, other.text);

/** What was seen; what was not cannot differ. */
const saidIn = (findings: readonly ReportFinding[], textOf: TextOf): Said[] =>
  findings.flatMap((finding) => {
    const text = sanitizeLine(textOf(finding) ?? "", mostText);
    return text === "" || text.startsWith(notObserved) ? [] : [{ instance: finding.instance, text }];
  });
