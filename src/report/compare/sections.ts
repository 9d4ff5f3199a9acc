import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount } from "../../base/text.ts";
import {
  type UnpairedReason,
  type Comparison,
  type FindingChange,
  type UnpairedFinding,
  type FindingResult,
  severities,
} from "./comparison.ts";
import { clausesText, type Entry, entriesOf, type EntryRow } from "./grouping.ts";
import { skipText } from "./regressions.ts";

/** A part of a comparison, the same for the terminal, Markdown and a page. Its texts are harmless, and escaped for no format. */
export interface Section {
  readonly title: string;
  readonly tone: "bad" | "good" | "plain";
  /** Findings in it. */
  readonly count: number;
  /** Clauses, each with what was said of it. */
  readonly entries: readonly Entry[];
  /** What takes no more than a line. */
  readonly lines: readonly EntryRow[];
}

/** What changed, the worst first. Parts with nothing in them are left out. */
export function sectionsOf(found: Comparison): Section[] {
  const broken = found.appeared.filter(isBroken);
  const arrived = found.appeared.filter((each) => !isBroken(each));
  const said = found.changedObservations.filter(({ immaterial }) => !immaterial);
  const alike = found.changedObservations.filter(({ immaterial }) => immaterial);
  const all: Section[] = [
    detailed("Newly failing", "bad", found.newlyFailing, brokenRows),
    detailed("Failing, and not in the older report", "bad", broken, ({ why, said: is }) => [
      { label: "was", text: absences[why] },
      ...breachRows(is),
    ]),
    listed("Newly skipped", "bad", found.newlySkipped, ({ is }) => causeText(is)),
    detailed("Fixed", "good", found.fixed, ({ was, is }) => [
      { label: "was", text: outcomeText(was) },
      { label: "now", text: outcomeText(is) },
    ]),
    listed("No longer skipped", "good", found.noLongerSkipped, ({ was }) => `was ${causeText(was)}`),
    detailed("Changed readings", "plain", found.changedReadings, ({ was, is }) => [
      { label: "was", text: sanitizeLine(was.reading ?? "none told", 60) },
      { label: "now", text: sanitizeLine(is.reading ?? "none told", 60) },
    ]),
    withAlike(detailed("Changed observations", "plain", said, observationRows), alike),
    detailed("Still failing", "plain", found.stillFailing, stillRows),
    listed("Only in the newer report", "plain", arrived, ({ why }) => absences[why]),
    listed("Only in the older report", "plain", found.gone, ({ why }) => absences[why]),
  ];
  return all.filter(({ count }) => count > 0);
}

/** Why the other report does not have it. */
const absences: Readonly<Record<UnpairedReason, string>> = {
  check: "the other suite has no such check",
  unselected: "the other selection left it out",
  unreached: "the other run did not reach it",
  instance: "the other run had no such tier",
  trial: "the other run did not send that load",
  silent: "the other run said nothing of it",
};

export const isBroken = ({ said }: UnpairedFinding): boolean =>
  said.outcome === "error" || (severities[said.outcome] ?? 0) > 0;

function detailed<F extends FindingChange | UnpairedFinding>(
  title: string,
  tone: Section["tone"],
  findings: readonly F[],
  rowsOf: (finding: F) => readonly EntryRow[],
): Section {
  return { title, tone, count: findings.length, entries: entriesOf(findings, rowsOf), lines: [] };
}

/** Findings by what is said of them, the most frequent first. */
function listed<F extends FindingChange | UnpairedFinding>(
  title: string,
  tone: Section["tone"],
  findings: readonly F[],
  causeOf: (finding: F) => string,
): Section {
  const groups = [...Map.groupBy(findings, causeOf)].toSorted(([, a], [, b]) => b.length - a.length);
  const lines = groups.map(([cause, members]) => ({
    label: formatCount(members.length, "check"),
    text: `${cause} (${clausesText(members)})`,
  }));
  return { title, tone, count: findings.length, entries: [], lines };
}

const withAlike = (section: Section, alike: readonly FindingChange[]): Section =>
  alike.length === 0
    ? section
    : {
        ...section,
        count: section.count + alike.length,
        lines: [
          {
            label: formatCount(alike.length, "check"),
            text: `in no more than times, or what the evidence left open (${clausesText(alike)})`,
          },
        ],
      };

const brokenRows = ({ was, is }: FindingChange): EntryRow[] => [
  { label: "was", text: outcomeText(was) },
  { label: "now", text: is.outcome },
  ...breachRows(is),
];

function breachRows({ outcome, expected, actual, reason }: FindingResult): EntryRow[] {
  if (outcome === "error") return [{ label: "harness", text: sanitizeLine(reason ?? "", 300) }];
  return [
    { label: "expected", text: sanitizeLine(expected ?? "") },
    { label: "actual", text: sanitizeLine(actual ?? reason ?? "") },
  ];
}

/** What still fails in the same way needs no words. */
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

function outcomeText(said: FindingResult): string {
  const { outcome, reading, expected, actual, reason } = said;
  switch (outcome) {
    case "pass":
      return reading === undefined ? "pass" : `pass, reading ${sanitizeLine(reading, 60)}`;
    case "observed":
      return sanitizeLine(reason ?? "observed");
    case "skipped":
      return skipText(said);
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
