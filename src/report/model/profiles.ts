import { clauseNames } from "./finding-text.ts";
import { formatNumber, sumOf, wholePercent } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import { clauseIds, clauseOf } from "../../spec/clauses.ts";
import { type Profile, profileNames, profileOf, profileOfSource } from "../../spec/profiles.ts";
import { countsIn } from "../../spec/clause.ts";
import { combinationFacts } from "./coverage.ts";
import { isBroken, isExercised, type ReportFinding } from "./finding.ts";
import { limitsSchema, partyOf, type ProfileResult, type Report } from "./report.ts";
import { requirementsOf } from "./requirements.ts";
import {
  cell,
  fact,
  joinTexts,
  type LabelledValue,
  outside,
  own,
  type Section,
  text,
  type Text,
  textColumns,
} from "./section.ts";
import { decideVerdict, failedClauses, unexercisedMusts, verdictTones, whyProfileLeftOut } from "./verdict.ts";
import { groupsBy } from "../../base/lists.ts";
import { z } from "zod";
import type { DeepReadonly } from "../../base/json.ts";

export type LimitVerdict = NonNullable<Report["limits"]>[number];

const windowByCheck: ReadonlyMap<string, LimitVerdict["window"]> = new Map([
  ["LIM-1", "minute"],
  ["LIM-3", "hour"],
]);

export const limitVerdicts = (findings: readonly ReportFinding[]): LimitVerdict[] =>
  findings.flatMap(({ check, instance, outcome, excessPercent }): LimitVerdict[] => {
    const window = windowByCheck.get(check);
    if (window === undefined || instance === undefined) return [];
    const limit = { tier: instance, window };
    if (outcome === "pass") return [{ ...limit, kind: "kept" }];
    if (outcome !== "fail") return [{ ...limit, kind: "not proven" }];
    return [{ ...limit, kind: "exceeded", excessPercent: excessPercent ?? null }];
  });

const limitFacts = (limits: readonly LimitVerdict[]): LabelledValue[] =>
  groupsBy(limits, formatLimitVerdict).map((those) =>
    fact(`rate limits ${formatLimitVerdict(those[0])}`, tiersText(those)),
  );

export function formatLimitVerdict(limit: LimitVerdict): string {
  if (limit.kind !== "exceeded") return limit.kind;
  return limit.excessPercent === null
    ? "exceeded by an unknown amount"
    : `exceeded by at most ${limit.excessPercent} %`;
}

const tiersText = (limits: readonly LimitVerdict[]): Text =>
  joinTexts(
    groupsBy(limits, ({ tier }) => tier).map(
      (those) => text`${outside(those[0].tier, 40)} (${own(those.map(({ window }) => window).join(", "))})`,
    ),
  );

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
 * Returns the finding as `profile` counts it; an empty list if `profile` does not count it. Example: if only streams
 * break a `core` clause, `streaming` counts a failure and `core` a pass.
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

const count = z.int().nonnegative();

export const coverageSharesSchema = z.object({
  musts: z
    .object({ exercised: count, total: count })
    .nullable()
    .describe("Must clauses of all profiles with a verdict. null: the report has no profiles."),
  pairs: z
    .object({ covered: count, reachable: count })
    .nullable()
    .describe("Pairs of request properties. null: the run did not count them."),
  limits: limitsSchema,
});

/** Coverage of a run, by three measures: mandatory clauses, pairs of request properties, and rate limits. */
export type CoverageShares = DeepReadonly<z.infer<typeof coverageSharesSchema>>;

interface CoverageSource extends Pick<Report, "limits"> {
  readonly profiles?: readonly Pick<ProfileResult, "verdict" | "musts" | "exercised">[] | undefined;
  readonly pairs?: { readonly covered: number; readonly reachable: number } | undefined;
}

export const reportShares = (report: Report): CoverageShares =>
  coverageShares({ ...report, profiles: profileResultsOf(report) });

export function coverageShares({ profiles = [], pairs, limits = [] }: CoverageSource): CoverageShares {
  const judged = profiles.filter(({ verdict }) => verdict !== "not offered" && verdict !== "not selected");
  const exercised = sumOf(judged.map((each) => each.exercised));
  return {
    musts: judged.length === 0 ? null : { exercised, total: sumOf(judged.map(({ musts }) => musts)) },
    pairs: pairs === undefined ? null : { covered: pairs.covered, reachable: pairs.reachable },
    limits,
  };
}

/** Formats the coverage of a run: `must clauses 98 % (210 of 213), rate limits: 8 kept`; empty if nothing is known. */
export const formatShares = ({ musts, pairs, limits }: CoverageShares): string =>
  [
    ...(musts === null ? [] : [`must clauses ${formatShare(musts.exercised, musts.total)}`]),
    ...(pairs === null ? [] : [`pairs of properties ${formatShare(pairs.covered, pairs.reachable)}`]),
    ...(limits.length === 0 ? [] : [`rate limits: ${formatLimitCounts(limits)}`]),
  ].join(", ");

const formatShare = (part: number, total: number): string =>
  `${wholePercent(part, total)} % (${formatNumber(part)} of ${formatNumber(total)})`;

const formatLimitCounts = (limits: CoverageShares["limits"]): string =>
  groupsBy(limits, formatLimitVerdict)
    .map((alike) => `${alike.length} ${formatLimitVerdict(alike[0])}`)
    .join(", ");
