import { reportShares } from "../model/profiles.ts";
import { narrowReport, requirementsOf } from "../model/requirements.ts";
import { countsIn } from "../../spec/clause.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount, joinFirst } from "../../base/text.ts";
import { partyOf, type Report, type ReportDocument } from "../model/report.ts";
import type {
  UnpairedReason,
  FindingChanges,
  UnpairedFinding,
  SuiteChange,
  LoadMetric,
  Change,
  Comparison,
  ComparedSide,
  StreamingChange,
} from "./comparison.ts";
import { findChanges } from "./find-changes.ts";
import { compareLoad } from "./load-metrics.ts";
import { findRegressions } from "./find-regressions.ts";
import type { RegressionRules } from "./regression-rules.ts";

export function compareReports(
  { report: older }: Pick<ReportDocument, "report">,
  { report: newer }: Pick<ReportDocument, "report">,
  rules: RegressionRules,
): Comparison {
  const changes = findChanges(older, newer);
  const load = compareLoad(older, newer);
  const changedSuite = suiteChange(older, newer, changes);
  const found = {
    format: "agent-hosting-conformance/comparison/1",
    older: sideOf(older),
    newer: sideOf(newer),
    notes: comparabilityNotes(older, newer, { ...changes, ...load, changedSuite }),
    changedSuite,
    ...changes,
    ...load,
    streaming: compareStreaming(older, newer),
  } as const;
  return { ...found, regressions: findRegressions(found, rules) };
}

/** Whether both reports share a finding or load metric. If they share none, the absence of regressions means nothing. */
export const hasCommonFindings = ({ unchanged, loadFigures, ...lists }: Comparison): boolean =>
  unchanged > 0 || loadFigures.length > 0 || pairedListNames.some((name) => lists[name].length > 0);

const pairedListNames = [
  "newlyFailing",
  "fixed",
  "newlySkipped",
  "noLongerSkipped",
  "stillFailing",
  "changedReadings",
  "changedObservations",
] as const satisfies readonly (keyof FindingChanges)[];

function sideOf(report: Report): ComparedSide {
  const { target, suite, started, verdict, stopped = null, totals, load } = report;
  return {
    kind: load === undefined ? "run" : "load",
    target: { name: target.name, baseUrl: target.baseUrl, fingerprint: target.fingerprint },
    suite,
    started,
    verdict,
    stopped,
    totals,
    coverage: reportShares(report),
  };
}

function suiteChange(older: Report, newer: Report, { appeared, gone }: FindingChanges): SuiteChange | null {
  const changeOf = (name: keyof Report["suite"]): Change | null => {
    const [was, is] = [older.suite[name], newer.suite[name]];
    return was === is ? null : { was, is };
  };
  const [version, clauses, requirements] = [changeOf("version"), changeOf("clauses"), changeOf("requirements")];
  if (version === null && clauses === null && requirements === null) return null;
  return { version, clauses, requirements, came: checksOutsideSuite(appeared), went: checksOutsideSuite(gone) };
}

const checksOutsideSuite = (unpaired: FindingChanges["gone"]): string[] => [
  ...new Set(unpaired.filter(({ why }) => why === "check").map(({ check }) => check)),
];

function comparabilityNotes(
  older: Report,
  newer: Report,
  { appeared, gone, changedSuite, loadFigures }: Pick<Comparison, "appeared" | "gone" | "changedSuite" | "loadFigures">,
): string[] {
  return [
    ...targetNotes(older, newer),
    ...requirementNotes(older, newer),
    ...suiteNotes(changedSuite),
    ...orderNotes(older, newer),
    ...earlyEndNotes("older", older),
    ...earlyEndNotes("newer", newer),
    ...unpairedNotes("newer", gone),
    ...unpairedNotes("older", appeared),
    ...incomparableMetricNotes(loadFigures),
    ...(loadFigures.length > 0
      ? ["Times of a single pair of runs are noisy: they are shown, but count only if --regression says so."]
      : []),
  ];
}

function targetNotes(older: Report, newer: Report): string[] {
  const [was, is] = [older.target, newer.target];
  // In a report on a client, `baseUrl` is the address of the reference server, which differs in each run. Therefore,
  // compares only the client's name.
  const parts = partyOf(newer) === "client" ? (["name"] as const) : (["name", "baseUrl", "fingerprint"] as const);
  const differ = parts.filter((part) => was[part] !== is[part]);
  if (differ.length === 0) return [];
  const words = { name: "name", baseUrl: "base URL", fingerprint: "fingerprint" } as const;
  const isSameName = was.name === is.name;
  return [
    `${isSameName ? "It may not be the same target" : "The targets are different"}: ${differ
      .filter((part) => part !== "fingerprint" || differ.length === 1)
      .map((part) => `${words[part]} ${textOrNone(was[part])} → ${textOrNone(is[part])}`)
      .join(", ")}.`,
  ];
}

const textOrNone = (text: string): string => (text === "" ? "none" : sanitizeLine(text, 120));

function requirementNotes(older: Report, newer: Report): string[] {
  const [was, is] = [older.suite.requirements, newer.suite.requirements];
  if (was === is) return [];
  const [early, late, side] = countsIn(was, is) ? [older, newer, "newer"] : [newer, older, "older"];
  const set = requirementsOf(early);
  return [
    `The older report was judged by requirement set ${textOrNone(was)}, the newer by ${textOrNone(is)}. By ${set}, the ${side} verdict is ${narrowReport(late, set).verdict}. --requirements ${set} compares both by it.`,
  ];
}

function suiteNotes(change: SuiteChange | null): string[] {
  if (change === null || (change.version === null && change.clauses === null)) return [];
  const parts = [
    ...(change.version === null
      ? []
      : [`version ${textOrNone(change.version.was)} → ${textOrNone(change.version.is)}`]),
    ...(change.clauses === null
      ? []
      : [`clauses ${textOrNone(change.clauses.was)} → ${textOrNone(change.clauses.is)}`]),
  ];
  return [
    `The suites are different (${parts.join(", ")}): a difference below may come from them, and not from the target.`,
    ...(change.came.length === 0 ? [] : [`New checks: ${formatCheckNames(change.came)}.`]),
    ...(change.went.length === 0 ? [] : [`Removed checks: ${formatCheckNames(change.went)}.`]),
  ];
}

const formatCheckNames = (checks: readonly string[]): string =>
  joinFirst(
    checks.map((check) => sanitizeLine(check, 100)),
    8,
  );

const orderNotes = (older: Report, newer: Report): string[] =>
  Date.parse(newer.started) < Date.parse(older.started)
    ? ["The report given as NEW was started before the one given as OLD."]
    : [];

const earlyEndNotes = (side: string, { stopped }: Report): string[] =>
  stopped === undefined
    ? []
    : [
        `The ${side} run was stopped early (${sanitizeLine(stopped, 160)}): what it did not reach is skipped or missing there.`,
      ];

const unpairedReasonTexts: Readonly<Record<Exclude<UnpairedReason, "check">, string>> = {
  requirements: "its requirement set does not have these checks. The requirements changed there, not the target",
  unselected: "its selection left them out",
  unreached: "it did not reach them",
  instance: "it ran them for other tiers",
  trial: "it did not send that load",
  repeated: "it has no cases beyond those of their earlier checks",
  silent: "it has no such findings",
};

function unpairedNotes(side: string, unpaired: readonly UnpairedFinding[]): string[] {
  return [...Map.groupBy(unpaired, ({ why }) => why)].flatMap(([why, members]) =>
    why === "check"
      ? []
      : [`${formatCount(members.length, "finding")} not in the ${side} report: ${unpairedReasonTexts[why]}.`],
  );
}

function incomparableMetricNotes(metrics: readonly LoadMetric[]): string[] {
  const doubts = new Map<string, Set<string>>();
  for (const { scenario, doubt } of metrics)
    if (doubt !== null) doubts.set(doubt, (doubts.get(doubt) ?? new Set()).add(sanitizeLine(scenario, 60)));
  return [...doubts].map(
    ([doubt, scenarios]) => `Metrics of ${[...scenarios].join(", ")} cannot be compared: ${sanitizeLine(doubt, 200)}.`,
  );
}

function compareStreaming({ streaming: older = [] }: Report, { streaming: newer = [] }: Report): StreamingChange[] {
  const agents = new Set([...newer, ...older].map(({ agent }) => agent));
  return [...agents].map((agent) => ({
    agent,
    was: older.find((each) => each.agent === agent) ?? null,
    is: newer.find((each) => each.agent === agent) ?? null,
  }));
}
