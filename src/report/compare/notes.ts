import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount, joinFirst } from "../../base/text.ts";
import type { Report } from "../model/report.ts";
import type { UnpairedReason, FindingChanges, UnpairedFinding, SuiteChange } from "./comparison.ts";
import type { LoadMetric } from "./comparison.ts";

interface Found extends Pick<FindingChanges, "appeared" | "gone"> {
  readonly changedSuite: SuiteChange | null;
  readonly loadFigures: readonly LoadMetric[];
}

/** What a reader must know before what changed: whether the two can be laid side by side at all, and where not. */
export function notesOf(older: Report, newer: Report, { appeared, gone, changedSuite, loadFigures }: Found): string[] {
  return [
    ...targetNotes(older.target, newer.target),
    ...suiteNotes(changedSuite),
    ...orderNotes(older, newer),
    ...stopNotes("older", older),
    ...stopNotes("newer", newer),
    ...absenceNotes("newer", gone),
    ...absenceNotes("older", appeared),
    ...doubtNotes(loadFigures),
    ...(loadFigures.length > 0
      ? ["Times of one pair of runs are noisy: they are shown, and count only where --regression says so."]
      : []),
  ];
}

function targetNotes(was: Report["target"], is: Report["target"]): string[] {
  const differ = (["name", "baseUrl", "fingerprint"] as const).filter((part) => was[part] !== is[part]);
  if (differ.length === 0) return [];
  const words = { name: "name", baseUrl: "base URL", fingerprint: "fingerprint" } as const;
  const isSameName = was.name === is.name;
  return [
    `${isSameName ? "It may not be the same target" : "The targets are different"}: ${differ
      .filter((part) => part !== "fingerprint" || differ.length === 1)
      .map((part) => `${words[part]} ${shown(was[part])} → ${shown(is[part])}`)
      .join(", ")}.`,
  ];
}

const shown = (text: string): string => (text === "" ? "none" : sanitizeLine(text, 120));

function suiteNotes(change: SuiteChange | null): string[] {
  if (change === null) return [];
  const parts = [
    ...(change.version === null ? [] : [`version ${shown(change.version.was)} → ${shown(change.version.is)}`]),
    ...(change.clauses === null ? [] : [`clauses ${shown(change.clauses.was)} → ${shown(change.clauses.is)}`]),
  ];
  return [
    `The suites are different (${parts.join(", ")}): a difference below may be theirs, and not the target's.`,
    ...(change.came.length === 0 ? [] : [`Checks that came: ${checkNames(change.came)}.`]),
    ...(change.went.length === 0 ? [] : [`Checks that went: ${checkNames(change.went)}.`]),
  ];
}

const checkNames = (checks: readonly string[]): string =>
  joinFirst(
    checks.map((check) => sanitizeLine(check, 100)),
    8,
  );

const orderNotes = (older: Report, newer: Report): string[] =>
  Date.parse(newer.started) < Date.parse(older.started)
    ? ["The report given as NEW was started before the one given as OLD."]
    : [];

const stopNotes = (side: string, { stopped }: Report): string[] =>
  stopped === undefined
    ? []
    : [
        `The ${side} run was stopped early (${sanitizeLine(stopped, 160)}): what it did not reach is skipped or missing there.`,
      ];

const reasons: Readonly<Record<Exclude<UnpairedReason, "check">, string>> = {
  unselected: "its selection left them out",
  unreached: "it did not reach them",
  instance: "it ran them for other tiers",
  trial: "it did not send that load",
  silent: "nothing was said of them there",
};

/** What one side lacks for a reason of its own run, and not of its suite. */
function absenceNotes(side: string, lone: readonly UnpairedFinding[]): string[] {
  return [...Map.groupBy(lone, ({ why }) => why)].flatMap(([why, members]) =>
    why === "check" ? [] : [`${formatCount(members.length, "finding")} not in the ${side} report: ${reasons[why]}.`],
  );
}

function doubtNotes(figures: readonly LoadMetric[]): string[] {
  const doubts = new Map<string, Set<string>>();
  for (const { scenario, doubt } of figures)
    if (doubt !== null) doubts.set(doubt, (doubts.get(doubt) ?? new Set()).add(sanitizeLine(scenario, 60)));
  return [...doubts].map(
    ([doubt, scenarios]) => `Figures of ${[...scenarios].join(", ")} cannot be compared: ${sanitizeLine(doubt, 200)}.`,
  );
}
