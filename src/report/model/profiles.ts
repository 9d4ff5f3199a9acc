import { clauseNames } from "./finding-text.ts";
import { wholePercent } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import { clauseIds, clauseOf } from "../../spec/clauses.ts";
import { type Profile, profileNames, profileOf, profileOfSource } from "../../spec/profiles.ts";
import { countsIn } from "../../spec/requirements.ts";
import { combinationFacts } from "./coverage.ts";
import { limitFacts } from "./proven-limits.ts";
import { isBroken, isExercised, partyOf, type ProfileResult, type Report, type ReportFinding } from "./report.ts";
import { requirementsOf } from "./requirements.ts";
import { cell, type LabelledValue, type Section, textColumns, own } from "./section.ts";
import { unexercisedMusts, whyProfileLeftOut, failedClauses, decideVerdict, verdictTones } from "./verdict.ts";

type ProfileInput = Pick<
  Report,
  "findings" | "selection" | "suite" | "target" | "verdict" | "stopped" | "party" | "load" | "recording"
>;

export const profileResultsOf = (report: ProfileInput): readonly ProfileResult[] =>
  hasProfiles(report) ? profileNames.map((name) => profileResultOf(name, report)) : [];

const hasProfiles = (report: ProfileInput): boolean =>
  partyOf(report) === "server" &&
  report.load === undefined &&
  report.recording === undefined &&
  report.verdict !== "unreachable";

function profileResultOf(profile: Profile, report: ProfileInput): ProfileResult {
  const findings = report.findings.flatMap((finding) => findingForProfile(profile, finding));
  const exempt = new Set(findings.flatMap((finding) => (finding.exempt === true ? [finding.clause] : [])));
  const musts = mustClausesOf(profile, requirementsOf(report)).filter((clause) => !exempt.has(clause));
  const unexercised = unexercisedMusts(findings);
  const exercised = new Set(findings.filter(isExercised).map(({ clause }) => clause));
  const count = musts.filter((clause) => exercised.has(clause) && !unexercised.includes(clause)).length;
  const broken = failedClauses(findings);
  const judged = decideVerdict(broken.length > 0, report.stopped !== undefined, count === musts.length);
  const verdict = whyProfileLeftOut(profile, report) ?? judged;
  return { profile, verdict, musts: musts.length, exercised: count, broken };
}

const mustClausesOf = (profile: Profile, requirements: string): string[] =>
  clauseIds.filter((id) => {
    const { level, since, untestable } = clauseOf(id);
    const isMust = level === "must" && untestable === undefined;
    return isMust && countsIn(since, requirements) && profileOf(id) === profile;
  });

/**
 * Returns the finding as it counts in `profile`. A `core` clause that only streams broke is broken in `streaming` and
 * passes in `core`.
 */
function findingForProfile(profile: Profile, finding: ReportFinding): ReportFinding[] {
  const home = profileOf(finding.clause);
  if (home !== "core" || finding.seen === undefined || !isBroken(finding)) return home === profile ? [finding] : [];
  const isBrokenHere = finding.seen.cells.some(({ of, broken }) => broken > 0 && profileOfSource(of) === profile);
  if (isBrokenHere) return [finding];
  return home === profile ? [{ ...finding, outcome: "pass" }] : [];
}

export const profilesLeftOut = (report: ProfileInput, why: "not offered" | "not selected"): readonly Profile[] =>
  hasProfiles(report) ? profileNames.filter((profile) => whyProfileLeftOut(profile, report) === why) : [];

export function profilesSection(report: Report): Section {
  const results = profileResultsOf(report);
  return {
    name: "profiles",
    title: "Verdict by profile",
    lead: own(
      "A profile is a part of the interface that a vendor may offer or leave out. It has a verdict of its own.",
    ),
    blocks: [
      {
        kind: "table",
        name: "Profiles",
        columns: textColumns("profile", "verdict", "must clauses exercised", "broken"),
        rows: results.map((result) => [
          cell(own(result.profile)),
          cell(own(result.verdict), verdictTones[result.verdict]),
          cell(own(formatExercisedShare(result))),
          cell(clauseNames(result.broken, 5)),
        ]),
      },
      { kind: "facts", facts: results.length === 0 ? [] : coverageFacts(report) },
    ],
  };
}

const coverageFacts = ({ pairs, limits = [] }: Report): LabelledValue[] => [
  ...(pairs === undefined ? [] : combinationFacts(pairs)),
  ...limitFacts(limits),
];

const formatExercisedShare = ({ musts, exercised }: ProfileResult): string => {
  if (musts === 0) return "none to exercise";
  return `${exercised} of ${formatCount(musts, "clause")} (${wholePercent(exercised, musts)} %)`;
};
