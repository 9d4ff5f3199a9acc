import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { isBroken, type ReportFinding } from "../../report/model/report.ts";
import { endpointsAtPath } from "../../spec/endpoints.ts";
import { isOffered, type Profile, profileNames, profileOf, profileOfSource, profiles } from "../../spec/profiles.ts";

/** The profiles that concern a report, and the exchanges that show which endpoints are there. */
interface OfferedProfiles {
  /** The profiles that the target offers; `null` for all. */
  readonly offers: readonly Profile[] | null;
  /** The profiles that the run selected; `null` for all. */
  readonly selected: readonly Profile[] | null;
  readonly exchanges: readonly Exchange[];
  readonly batchPath: string | null;
}

/**
 * Takes profiles out of the findings that the target does not offer and does not have. Their clauses become skipped as
 * "not offered". A clause about every endpoint is judged without the endpoints of profiles that are left out or not
 * selected. A profile whose endpoints are there is judged, whatever the target says that it offers.
 */
export function withOffers(findings: readonly ReportFinding[], profilesOf: OfferedProfiles): ReportFinding[] {
  const { offers, selected } = profilesOf;
  const missing = new Set(
    profileNames.filter((each) => !isOffered(each, offers) && isMissing(each, findings, profilesOf)),
  );
  const ignored = new Set([
    ...missing,
    ...profileNames.filter((each) => selected !== null && !selected.includes(each)),
  ]);
  return findings.map((finding) => {
    const profile = profileOf(finding.clause);
    if (profile !== null && missing.has(profile)) return notOffered(finding, profile);
    return profile === "core" ? withoutSources(finding, ignored) : finding;
  });
}

/** Statuses with which a server without an endpoint may answer a request to it. */
const missingStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405, 410, 429, 501]);

/**
 * Whether a target lacks a profile. Endpoints are missing if no request got past them; limits, if there are no
 * rate-limit headers and no 429. A profile without endpoints is missing if none of its clauses could be exercised.
 */
function isMissing(profile: Profile, findings: readonly ReportFinding[], given: OfferedProfiles): boolean {
  const { exchanges, batchPath } = given;
  const { sources } = profiles[profile];
  if (sources.length === 0)
    return findings.every(({ clause, outcome }) => profileOf(clause) !== profile || !isExercisedAtAll(outcome));
  if (profile === "limits" && exchanges.some(showsLimits)) return false;
  return !exchanges.some((exchange) => {
    const status = statusOf(exchange);
    const isOwn = endpointsAtPath(exchange.request.url, { batch: batchPath }).some(({ endpoint }) =>
      sources.some((source) => source === endpoint),
    );
    return isOwn && status !== null && !missingStatuses.has(status);
  });
}

const isExercisedAtAll = (outcome: ReportFinding["outcome"]): boolean =>
  outcome !== "skipped" && outcome !== "observed";

const showsLimits = (exchange: Exchange): boolean =>
  statusOf(exchange) === 429 ||
  (exchange.answer.kind === "answered" && exchange.answer.headers.some(([name]) => /^x-ratelimit-/i.test(name)));

function notOffered(finding: ReportFinding, profile: Profile): ReportFinding {
  const { check, clause, suite, level, since, instance } = finding;
  return {
    check,
    clause,
    suite,
    level,
    ...(since === undefined ? {} : { since }),
    outcome: "skipped",
    ...(instance === undefined ? {} : { instance }),
    reason: `not offered: \`offers\` of the target file leaves out ${profile}, and the target does not have it`,
  };
}

/** Returns a finding about the responses of many endpoints without the endpoints of some profiles. */
function withoutSources(finding: ReportFinding, ignored: ReadonlySet<Profile>): ReportFinding {
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
