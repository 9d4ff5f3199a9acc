import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount, joinFirst } from "../../base/text.ts";
import {
  type Comparison,
  type FindingChange,
  type FindingResult,
  severities,
  type ComparedSide,
  type UnpairedFinding,
  type UnpairedReason,
} from "./comparison.ts";
import { formatClauses, entriesOf, type ClauseEntry, type EntryRow } from "./grouping.ts";
import { formatSkip } from "./regressions.ts";

/** A section of a comparison, for all formats. Control characters are already escaped; each renderer adds the escapes of its format. */
export interface ComparisonSection {
  readonly title: string;
  readonly tone: "bad" | "good" | "plain";
  /** Number of findings in the section. */
  readonly count: number;
  /** The clauses whose findings are shown in detail. */
  readonly entries: readonly ClauseEntry[];
  /** Short lines, each for a group of findings. */
  readonly lines: readonly EntryRow[];
}

/** Returns the sections of a comparison, worst first. Leaves out empty sections. */
export function sectionsOf(found: Comparison): ComparisonSection[] {
  const broken = found.appeared.filter(isBroken);
  const addedFine = found.appeared.filter((each) => !isBroken(each));
  const changed = found.changedObservations.filter(({ immaterial }) => !immaterial);
  const equivalent = found.changedObservations.filter(({ immaterial }) => immaterial);
  const all: ComparisonSection[] = [
    detailedSection("Newly failing", "bad", found.newlyFailing, brokenRows),
    detailedSection("Failing, and not in the older report", "bad", broken, ({ why, said: is }) => [
      { label: "was", text: reasonTexts[why] },
      ...failureRows(is),
    ]),
    listedSection("Newly skipped", "bad", found.newlySkipped, ({ is }) => causeText(is)),
    detailedSection("Fixed", "good", found.fixed, ({ was, is }) => [
      { label: "was", text: outcomeText(was) },
      { label: "now", text: outcomeText(is) },
    ]),
    listedSection("No longer skipped", "good", found.noLongerSkipped, ({ was }) => `was ${causeText(was)}`),
    detailedSection("Changed readings", "plain", found.changedReadings, ({ was, is }) => [
      { label: "was", text: sanitizeLine(was.reading ?? "none", 60) },
      { label: "now", text: sanitizeLine(is.reading ?? "none", 60) },
    ]),
    withEquivalent(detailedSection("Changed observations", "plain", changed, observationRows), equivalent),
    detailedSection("Still failing", "plain", found.stillFailing, stillRows),
    listedSection("Only in the newer report", "plain", addedFine, ({ why }) => reasonTexts[why]),
    listedSection("Only in the older report", "plain", found.gone, ({ why }) => reasonTexts[why]),
  ];
  return all.filter(({ count }) => count > 0);
}

/** Says why the other report does not have a finding. */
const reasonTexts: Readonly<Record<UnpairedReason, string>> = {
  check: "the other suite has no such check",
  unselected: "the other selection left it out",
  requirements: "the other requirement set does not have this check",
  unreached: "the other run did not reach it",
  instance: "the other run had no such tier",
  trial: "the other run did not send that load",
  repeated: "the other run has no case beyond those of the earlier check",
  silent: "the other run has no such finding",
};

export const isBroken = ({ said }: UnpairedFinding): boolean =>
  said.outcome === "error" || (severities[said.outcome] ?? 0) > 0;

function detailedSection<F extends FindingChange | UnpairedFinding>(
  title: string,
  tone: ComparisonSection["tone"],
  findings: readonly F[],
  rowsOf: (finding: F) => readonly EntryRow[],
): ComparisonSection {
  return { title, tone, count: findings.length, entries: entriesOf(findings, rowsOf), lines: [] };
}

/** Lists findings in groups by cause, largest group first. */
function listedSection<F extends FindingChange | UnpairedFinding>(
  title: string,
  tone: ComparisonSection["tone"],
  findings: readonly F[],
  causeOf: (finding: F) => string,
): ComparisonSection {
  const groups = [...Map.groupBy(findings, causeOf)].toSorted(([, a], [, b]) => b.length - a.length);
  const lines = groups.map(([cause, members]) => ({
    label: formatCount(members.length, "check"),
    text: `${cause} (${formatClauses(members)})`,
  }));
  return { title, tone, count: findings.length, entries: [], lines };
}

/** Adds a short line for observations that changed only in times, or in the possible kinds of rate-limit window. */
const withEquivalent = (section: ComparisonSection, equivalent: readonly FindingChange[]): ComparisonSection =>
  equivalent.length === 0
    ? section
    : {
        ...section,
        count: section.count + equivalent.length,
        lines: [
          {
            label: formatCount(equivalent.length, "check"),
            text: `only in times, or in what the evidence leaves possible (${formatClauses(equivalent)})`,
          },
        ],
      };

const brokenRows = ({ was, is }: FindingChange): EntryRow[] => [
  { label: "was", text: outcomeText(was) },
  { label: "now", text: is.outcome },
  ...failureRows(is),
];

function failureRows({ outcome, expected, actual, reason }: FindingResult): EntryRow[] {
  if (outcome === "error") return [{ label: "harness", text: sanitizeLine(reason ?? "", 300) }];
  return [
    { label: "expected", text: sanitizeLine(expected ?? "") },
    { label: "actual", text: sanitizeLine(actual ?? reason ?? "") },
  ];
}

/** Returns rows for a finding that still fails, but in another way than before. Empty if it fails in the same way. */
function stillRows({ was, is }: FindingChange): EntryRow[] {
  const [before, now] = [outcomeText(was), outcomeText(is)];
  if (before === now) return [];
  return [
    { label: "was", text: before },
    { label: "now", text: now },
  ];
}

const observationRows = ({ was, is }: FindingChange): EntryRow[] => [
  { label: "was", text: outcomeText(was) },
  { label: "now", text: outcomeText(is) },
];

function outcomeText(result: FindingResult): string {
  const { outcome, reading, expected, actual, reason } = result;
  switch (outcome) {
    case "pass":
      return reading === undefined ? "pass" : `pass, reading ${sanitizeLine(reading, 60)}`;
    case "observed":
      return sanitizeLine(reason ?? "observed");
    case "skipped":
      return formatSkip(result);
    case "error":
      return `the harness failed: ${sanitizeLine(reason ?? "")}`;
    case "fail":
    case "warning":
    case "note":
      return `${outcome}: expected ${sanitizeLine(expected ?? "")}; got ${sanitizeLine(actual ?? reason ?? "")}`;
  }
}

const causeText = ({ needs, reason = "" }: FindingResult): string =>
  needs === undefined ? sanitizeLine(reason, 160) : `enabled by ${sanitizeLine(needs, 200)}`;

/** Sums up a comparison: `2 regressions (SSE-5, SSE-6), 1 newly failing, 3 fixed, 300 unchanged`. */
export const formatSummary = (found: Comparison): string => `${formatRegressionCount(found)}, ${formatCounts(found)}`;

/** Formats the counts as `1 newly failing, 3 fixed, 300 unchanged`. */
export function formatCounts(found: Comparison): string {
  const counts: readonly (readonly [number, string])[] = [
    [found.newlyFailing.length, "newly failing"],
    [found.appeared.filter(isBroken).length, "failing and not in the older"],
    [found.newlySkipped.length, "newly skipped"],
    [found.fixed.length, "fixed"],
    [found.noLongerSkipped.length, "no longer skipped"],
    [found.changedReadings.length, "with another reading"],
    [found.changedObservations.filter(({ immaterial }) => !immaterial).length, "observed differently"],
    [found.stillFailing.length, "still failing"],
    [found.appeared.filter((each) => !isBroken(each)).length, "only in the newer"],
    [found.gone.length, "only in the older"],
  ];
  const parts = counts.flatMap(([count, words]) => (count === 0 ? [] : [`${count} ${words}`]));
  return [...parts, `${unchangedCount(found)} unchanged`].join(", ");
}

export function formatRegressionCount({ regressions }: Comparison): string {
  if (regressions.length === 0) return "no regression";
  const named = [...new Set(regressions.map(({ finding, kind }) => finding?.clause ?? kind))];
  return `${formatCount(regressions.length, "regression")} (${joinFirst(
    named.map((name) => sanitizeLine(name, 60)),
    5,
  )})`;
}

/**
 * Returns the number of unchanged findings. Includes observations that changed only in times, or in the possible kinds of rate-limit
 * window.
 */
const unchangedCount = ({ unchanged, changedObservations }: Comparison): number =>
  unchanged + changedObservations.filter(({ immaterial }) => immaterial).length;

/** Formats one of the compared reports as `Acme, 2030-01-01 02:00 UTC, nonconformant, suite 0.1.0`. */
export function formatSide({ target, started, verdict, suite, kind }: ComparedSide): string {
  const address = target.baseUrl === "" ? "" : ` at ${sanitizeLine(target.baseUrl, 120)}`;
  const when = started.replace(/T(\d\d:\d\d).*$/, " $1 UTC");
  return `${sanitizeLine(target.name, 80)}${address}, ${kind === "load" ? "load, " : ""}${when}, ${verdict}, suite ${sanitizeLine(suite.version, 40)}, requirement set ${sanitizeLine(suite.requirements, 40)}`;
}
