import { groupsBy } from "../../base/lists.ts";
import { formatNumber } from "../../base/numbers.ts";
import { type AgentStreaming, formatRate } from "../model/streaming.ts";
import { formatShares } from "../model/profiles.ts";
import { clauseSentence } from "../model/finding-text.ts";
import { joinFirst, formatCount } from "../../base/text.ts";
import {
  type FindingIdentity,
  type Comparison,
  type FindingChange,
  type FindingResult,
  severityByOutcome,
  type ComparedSide,
  type UnpairedFinding,
  type UnpairedReason,
  type StreamingChange,
} from "./comparison.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatSkip } from "./find-regressions.ts";

/** A section of a rendered comparison. Control characters are escaped; each format must escape its own markup. */
export interface ComparisonSection {
  readonly title: string;
  readonly tone: "bad" | "good" | "plain";
  readonly count: number;
  readonly entries: readonly ClauseWithResults[];
  readonly lines: readonly LabelledText[];
}

export function comparisonSections(found: Comparison): ComparisonSection[] {
  const broken = found.appeared.filter(isUnpairedBroken);
  const addedFine = found.appeared.filter((each) => !isUnpairedBroken(each));
  const changed = found.changedObservations.filter(({ immaterial }) => !immaterial);
  const equivalent = found.changedObservations.filter(({ immaterial }) => immaterial);
  const all: ComparisonSection[] = [
    detailedSection("Newly failing", "bad", found.newlyFailing, newlyFailingRows),
    detailedSection("Failing, and not in the older report", "bad", broken, ({ why, said: is }) => [
      { label: "was", text: unpairedReasonTexts[why] },
      ...failureRows(is),
    ]),
    listedSection("Newly skipped", "bad", found.newlySkipped, ({ is }) => formatCause(is)),
    detailedSection("Fixed", "good", found.fixed, resultRows),
    listedSection("No longer skipped", "good", found.noLongerSkipped, ({ was }) => `was ${formatCause(was)}`),
    detailedSection("Changed readings", "plain", found.changedReadings, ({ was, is }) =>
      wasAndNow(sanitizeLine(was.reading ?? "none", 60), sanitizeLine(is.reading ?? "none", 60)),
    ),
    addEquivalentLine(detailedSection("Changed observations", "plain", changed, resultRows), equivalent),
    detailedSection("Still failing", "plain", found.stillFailing, stillFailingRows),
    listedSection("Only in the newer report", "plain", addedFine, ({ why }) => unpairedReasonTexts[why]),
    listedSection("Only in the older report", "plain", found.gone, ({ why }) => unpairedReasonTexts[why]),
    streamingSection(found),
  ];
  return all.filter(({ count }) => count > 0);
}

const streamingSection = ({ streaming }: Comparison): ComparisonSection => ({
  title: "Streaming quality, by agent",
  tone: "plain",
  count: streaming.length,
  entries: [],
  lines: streaming.map(formatStreamingChange),
});

const unpairedReasonTexts: Readonly<Record<UnpairedReason, string>> = {
  check: "the other suite has no such check",
  unselected: "the other selection left it out",
  requirements: "the other requirement set does not have this check",
  unreached: "the other run did not reach it",
  instance: "the other run had no such tier",
  trial: "the other run did not send that load",
  repeated: "the other run has no case beyond those of the earlier check",
  silent: "the other run has no such finding",
};

const isUnpairedBroken = ({ said }: UnpairedFinding): boolean =>
  said.outcome === "error" || (severityByOutcome[said.outcome] ?? 0) > 0;

function detailedSection<F extends FindingChange | UnpairedFinding>(
  title: string,
  tone: ComparisonSection["tone"],
  findings: readonly F[],
  rowsOf: (finding: F) => readonly LabelledText[],
): ComparisonSection {
  return { title, tone, count: findings.length, entries: groupByClauseAndResult(findings, rowsOf), lines: [] };
}

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

const addEquivalentLine = (section: ComparisonSection, equivalent: readonly FindingChange[]): ComparisonSection =>
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

const wasAndNow = (was: string, now: string): LabelledText[] => [
  { label: "was", text: was },
  { label: "now", text: now },
];

const resultRows = ({ was, is }: Pick<FindingChange, "was" | "is">): LabelledText[] =>
  wasAndNow(formatResult(was), formatResult(is));

const newlyFailingRows = ({ was, is }: FindingChange): LabelledText[] => [
  ...wasAndNow(formatResult(was), is.outcome),
  ...failureRows(is),
];

function failureRows({ outcome, expected, actual, reason }: FindingResult): LabelledText[] {
  if (outcome === "error") return [{ label: "harness", text: sanitizeLine(reason ?? "", 300) }];
  return [
    { label: "expected", text: sanitizeLine(expected ?? "") },
    { label: "actual", text: sanitizeLine(actual ?? reason ?? "") },
  ];
}

function stillFailingRows({ was, is }: FindingChange): LabelledText[] {
  return formatResult(was) === formatResult(is) ? [] : resultRows({ was, is });
}

function formatResult(result: FindingResult): string {
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

const formatCause = ({ needs, reason = "" }: FindingResult): string =>
  needs === undefined ? sanitizeLine(reason, 160) : `enabled by ${sanitizeLine(needs, 200)}`;

/** Formats a comparison as one line, such as `2 regressions (SSE-5, SSE-6), 3 fixed, 300 unchanged`. */
export const formatComparisonSummary = (found: Comparison): string =>
  `${formatRegressionCount(found)}, ${formatChangeCounts(found)}`;

export function formatChangeCounts(found: Comparison): string {
  const counts: readonly (readonly [number, string])[] = [
    [found.newlyFailing.length, "newly failing"],
    [found.appeared.filter(isUnpairedBroken).length, "failing and not in the older"],
    [found.newlySkipped.length, "newly skipped"],
    [found.fixed.length, "fixed"],
    [found.noLongerSkipped.length, "no longer skipped"],
    [found.changedReadings.length, "with another reading"],
    [found.changedObservations.filter(({ immaterial }) => !immaterial).length, "observed differently"],
    [found.stillFailing.length, "still failing"],
    [found.appeared.filter((each) => !isUnpairedBroken(each)).length, "only in the newer"],
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

const unchangedCount = ({ unchanged, changedObservations }: Comparison): number =>
  unchanged + changedObservations.filter(({ immaterial }) => immaterial).length;

/** Formats a report as `Acme at <base URL>, 2030-01-01 02:00 UTC, partial, suite 0.1.0, requirement set 1.0`. */
export function formatComparedReport({ target, started, verdict, suite, kind }: ComparedSide): string {
  const address = target.baseUrl === "" ? "" : ` at ${sanitizeLine(target.baseUrl, 120)}`;
  const when = started.replace(/T(\d\d:\d\d).*$/, " $1 UTC");
  return `${sanitizeLine(target.name, 80)}${address}, ${kind === "load" ? "load, " : ""}${when}, ${verdict}, suite ${sanitizeLine(suite.version, 40)}, requirement set ${sanitizeLine(suite.requirements, 40)}`;
}

export const formatCovered = ({ coverage }: ComparedSide): string => {
  const shares = formatShares(coverage);
  return shares === "" ? "" : `covered ${shares}`;
};

export interface LabelledText {
  readonly label: string;
  readonly text: string;
}

interface ChecksWithResult {
  /** Names of the checks. Brackets contain a check's instances, such as tiers: `SSE-5/name (free, pro)`. */
  readonly checks: string;
  readonly rows: readonly LabelledText[];
}

export interface ClauseWithResults {
  readonly clause: string;
  readonly level: string;
  readonly says: string;
  readonly cases: readonly ChecksWithResult[];
}

function groupByClauseAndResult<F extends FindingIdentity>(
  findings: readonly F[],
  rowsOf: (finding: F) => readonly LabelledText[],
): ClauseWithResults[] {
  return groupsBy(findings, ({ clause }) => clause).map((members) => ({
    clause: sanitizeLine(members[0].clause, 60),
    level: members[0].level,
    says: clauseSentence(members[0].clause),
    cases: groupsBy(members, (finding) => JSON.stringify(rowsOf(finding))).map((alike) => ({
      checks: formatChecks(alike),
      rows: rowsOf(alike[0]),
    })),
  }));
}

/** Formats findings as `SSE-5/name (free, pro), SSE-5/other`. Names each check once, with its instances. */
export function formatChecks(findings: readonly Pick<FindingIdentity, "check" | "instance">[], max = 12): string {
  const texts = [...Map.groupBy(findings, ({ check }) => check)].map(([check, members]) => {
    const instances = members.flatMap(({ instance }) => (instance === null ? [] : [sanitizeLine(instance, 60)]));
    return `${sanitizeLine(check, 100)}${instances.length === 0 ? "" : ` (${joinFirst(instances, 4)})`}`;
  });
  return joinFirst(texts, max);
}

const formatClauses = (findings: readonly Pick<FindingIdentity, "clause">[], max = 12): string =>
  joinFirst([...new Set(findings.map(({ clause }) => sanitizeLine(clause, 60)))], max);

const formatStreamingChange = ({ agent, was, is }: StreamingChange): LabelledText => ({
  label: sanitizeLine(agent, 40),
  text: Object.entries(figures)
    .map(([name, valueOf]) => [name, was === null ? "–" : valueOf(was), is === null ? "–" : valueOf(is)] as const)
    .filter(([, ...values]) => values.some((value) => value !== "–"))
    .map(([name, before, now]) => `${name} ${before} → ${now}`)
    .join("; "),
});

const figures: Readonly<Record<string, (quality: AgentStreaming) => string>> = {
  "median to first content": ({ firstContentMs }) => formatMs(firstContentMs.p50),
  "median gap": ({ gapMs }) => (gapMs === null ? "–" : formatMs(gapMs.p50)),
  "gap p99": ({ gapMs }) => (gapMs === null ? "–" : formatMs(gapMs.p99)),
  "longest gap": ({ gapMs }) => (gapMs === null ? "–" : formatMs(gapMs.max)),
  "a second": (quality) => formatRate(quality) ?? "–",
  "at once": ({ lumps, streams }) => `${lumps} of ${streams}`,
};

const formatMs = (ms: number): string => `${formatNumber(Math.round(ms))} ms`;
