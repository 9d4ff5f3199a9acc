import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { isBroken, type ReportFinding } from "../../report/model/finding.ts";
import { endpointsAtPath } from "../../spec/endpoints.ts";
import { isOffered, type Profile, profileNames, profileOf, profileOfSource, profiles } from "../../spec/profiles.ts";
import { formatCount, joinFirst } from "../../base/text.ts";
import { sinceAfterFirstSet } from "../../report/model/requirements.ts";
import type { Selection } from "../../run/plan/selection.ts";
import { clausesOfPair } from "../../suites/coverage/clauses-of-pairs.ts";
import { pairRequestsSent, type PairCoverage } from "../../suites/coverage/probe.ts";
import type { Judgement } from "../../run/judge/judge-evidence.ts";
import type { Coverage } from "../../run/judge/finding.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { clauseOf } from "../../spec/clauses.ts";
import { withoutUndefined } from "../../base/json.ts";
import { findingDetails, type FindingWithTexts } from "./assemble-report.ts";

interface RunFacts extends ProfileFacts {
  readonly coverage: PairCoverage | null;
  readonly selection: Selection | undefined;
}

export function reportedFindings(
  judgements: readonly Judgement[],
  messages: Messages,
  { coverage, selection, ...facts }: RunFacts,
): ReportFinding[] {
  const rows = judgements.map((each) => findingRowOf(each, messages));
  const findings = withUntriedPairFindings(rows, untriedPairs(coverage, selection));
  return withoutMissingProfiles(findings, selection?.profiles ?? null, facts);
}

export function findingRowOf(
  { check, suite, instance, finding, evidenceIds }: Judgement,
  messages: Messages,
): ReportFinding {
  const { level } = clauseOf(check.clause);
  return {
    check: check.id,
    clause: check.clause,
    suite,
    level,
    ...sinceAfterFirstSet(check.since),
    ...(instance === null ? {} : { instance }),
    ...findingDetails(wordedFinding(finding, messages), level),
    ...("seen" in finding && finding.seen !== undefined ? { seen: wordedCoverage(finding.seen, messages) } : {}),
    ...(evidenceIds.length === 0 ? {} : { evidence: evidenceIds }),
  };
}

const wordedFinding = (finding: Judgement["finding"], { reason, needs }: Messages): FindingWithTexts =>
  finding.kind === "unproven"
    ? { ...finding, reason: reason(finding.reason), needs: finding.needs === null ? null : needs(finding.needs) }
    : finding;

const wordedCoverage = ({ unseen, ...seen }: Coverage, { needs }: Messages): NonNullable<ReportFinding["seen"]> => ({
  ...seen,
  unseen: unseen.map(({ of, kind, reach }) => ({ of, kind, ...(reach === null ? {} : { needs: needs(reach) }) })),
});

interface ProfileFacts {
  /** Profiles that the target offers according to its target file. `null` stands for all profiles. */
  readonly offers: readonly Profile[] | null;
  readonly exchanges: readonly Exchange[];
  readonly batchPath: string | null;
}

function withoutMissingProfiles(
  findings: readonly ReportFinding[],
  selected: readonly Profile[] | null,
  facts: ProfileFacts,
): ReportFinding[] {
  const missing = new Set(
    profileNames.filter((each) => !isOffered(each, facts.offers) && isProfileMissing(each, findings, facts)),
  );
  const ignored = new Set([
    ...missing,
    ...profileNames.filter((each) => selected !== null && !selected.includes(each)),
  ]);
  return findings.map((finding) => {
    const profile = profileOf(finding.clause);
    if (profile !== null && missing.has(profile)) return skippedAsNotOffered(finding, profile);
    return profile === "core" ? withoutEndpointsOf(finding, ignored) : finding;
  });
}

/**
 * Statuses that a server can return for a path without an endpoint. 401, 403 and 429 are included, because a server can
 * check keys and limits first.
 */
const statusesOfMissingEndpoint: ReadonlySet<number> = new Set([401, 403, 404, 405, 410, 429, 501]);

function isProfileMissing(
  profile: Profile,
  findings: readonly ReportFinding[],
  { exchanges, batchPath }: ProfileFacts,
): boolean {
  const { sources } = profiles[profile];
  if (sources.length === 0)
    return findings.every(({ clause, outcome }) => profileOf(clause) !== profile || !isExercisedAtAll(outcome));
  if (profile === "limits" && exchanges.some(showsLimits)) return false;
  return !exchanges.some((exchange) => {
    const status = statusOf(exchange);
    const isOwn = endpointsAtPath(exchange.request.url, { batch: batchPath }).some(({ endpoint }) =>
      sources.some((source) => source === endpoint),
    );
    return isOwn && status !== null && !statusesOfMissingEndpoint.has(status);
  });
}

const isExercisedAtAll = (outcome: ReportFinding["outcome"]): boolean =>
  outcome !== "skipped" && outcome !== "observed";

const showsLimits = (exchange: Exchange): boolean =>
  statusOf(exchange) === 429 ||
  (exchange.answer.kind === "answered" && exchange.answer.headers.some(([name]) => /^x-ratelimit-/i.test(name)));

function skippedAsNotOffered(finding: ReportFinding, profile: Profile): ReportFinding {
  const { check, clause, suite, level, since, instance } = finding;
  return {
    ...withoutUndefined({ check, clause, suite, level, since }),
    outcome: "skipped",
    ...(instance === undefined ? {} : { instance }),
    reason: `not offered: \`offers\` of the target file leaves out ${profile}, and the target does not have it`,
  };
}

function withoutEndpointsOf(finding: ReportFinding, ignored: ReadonlySet<Profile>): ReportFinding {
  const { seen } = finding;
  if (seen === undefined || ignored.size === 0) return finding;
  const isKept = ({ of }: { readonly of: string }): boolean => !ignored.has(profileOfSource(of));
  const cells = seen.cells.filter(isKept);
  const sum = (of: "looked" | "broken"): number => cells.reduce((total, each) => total + each[of], 0);
  const kept = {
    ...finding,
    seen: { looked: sum("looked"), broken: sum("broken"), cells, unseen: seen.unseen.filter(isKept) },
  };
  if (!isBroken(finding) || kept.seen.broken > 0 || seen.broken === 0) return kept;
  const { expected: _expected, actual: _actual, evidence: _evidence, ...rest } = kept;
  return kept.seen.looked > 0
    ? { ...rest, outcome: "pass" }
    : { ...rest, outcome: "skipped", reason: "not observed at any endpoint of the profiles that are judged" };
}

const maxNamedPairs = 4;

export const untriedPairs = (coverage: PairCoverage | null, selection: Selection | undefined): readonly string[] =>
  coverage?.seen === undefined || selection !== undefined ? [] : coverage.uncovered;

/**
 * Adds a skipped finding for each `must` clause with untried pairs of request properties. A pair is untried if no
 * request had both properties.
 */
export function withUntriedPairFindings(
  findings: readonly ReportFinding[],
  unseen: readonly string[],
): readonly ReportFinding[] {
  const ofClauses = unseen.flatMap((pair) => clausesOfPair(pair).map((clause) => ({ clause, pair })));
  const byClause = Map.groupBy(ofClauses, ({ clause }): string => clause);
  const rows = [...byClause].flatMap(([clause, pairs]): ReportFinding[] => {
    const known = findings.find((each) => each.clause === clause);
    if (known === undefined || known.level !== "must") return [];
    const { suite, level } = known;
    const names = joinFirst(
      pairs.map(({ pair }) => pair),
      maxNamedPairs,
    );
    return [
      {
        check: `${clause}/pairs of properties`,
        clause,
        suite,
        level,
        ...sinceAfterFirstSet(pairRequestsSent.since),
        outcome: "skipped",
        reason: `${formatCount(pairs.length, "pair")} of properties within reach, not in any request: ${names}`,
        unseenPairs: pairs.length,
      },
    ];
  });
  return [...findings, ...rows];
}
