import { dayMs, dayOf } from "../../base/duration.ts";
import { joinFirst } from "../../base/text.ts";
import { countsIn, firstRequirementSet } from "../../spec/clause.ts";
import { formatLimitVerdict, type LimitVerdict } from "../model/profiles.ts";
import type { Subject } from "./attestation.ts";
import type { VendorKey } from "./signatures.ts";
import { optionalRules, type Policy } from "./policy-schema.ts";
import type { Statement } from "./statement-schema.ts";

export interface PolicyFacts {
  readonly statement: Statement;
  readonly subjects: readonly Subject[];
  readonly isSigned: boolean;
  readonly signers: readonly VendorKey[];
  /**
   * For each entry of the policy's `signers`, in order: the ids of the keys in the entry's key list. `null` if the
   * entry names no list.
   */
  readonly listedKeyIds: readonly (ReadonlySet<string> | null)[];
  readonly matchesReport: boolean | null;
  readonly now: Date;
}

/**
 * The result of one rule of a policy. `unchecked`: the data that the rule needs is missing. `optional`: the data is
 * missing, and the policy marks the rule as optional.
 */
export interface RuleResult {
  readonly rule: keyof Policy;
  readonly outcome: "met" | "broken" | "unchecked" | "optional";
  readonly says: string;
}

type JudgedRule = Pick<RuleResult, "says"> & { readonly outcome: "met" | "broken" | "unchecked" };

const ruleMet = (says: string): JudgedRule => ({ outcome: "met", says });
const ruleBroken = (says: string): JudgedRule => ({ outcome: "broken", says });
const ruleUnchecked = (says: string): JudgedRule => ({ outcome: "unchecked", says });
const metUnlessProblems = (problems: readonly string[], says: string): JudgedRule =>
  problems.length === 0 ? ruleMet(says) : ruleBroken(joinFirst(problems, 8));

export function judgePolicy(policy: Policy, facts: PolicyFacts): RuleResult[] {
  const { optional = [] } = policy;
  return (Object.keys(ruleJudges) as RuleName[]).flatMap((rule): RuleResult[] => {
    const found = ruleJudges[rule](policy, facts);
    if (found === null) return [];
    const isExcused =
      found.outcome === "unchecked" && optionalRules.some((each) => each === rule && optional.includes(each));
    return [{ rule, ...found, outcome: isExcused ? "optional" : found.outcome }];
  });
}

type RuleName = Exclude<keyof Policy, "$schema" | "unsigned" | "optional">;

const ruleJudges: Readonly<Record<RuleName, (policy: Policy, facts: PolicyFacts) => JudgedRule | null>> = {
  signers: judgeSigners,
  party: ({ party = "server" }, { statement }) => {
    const judged = statement.party ?? "server";
    return judged === party
      ? ruleMet(`it judges a ${party}`)
      : ruleBroken(`it judges a ${judged}, and must judge a ${party}`);
  },
  baseUrl: ({ baseUrl }, { statement: { target } }) => {
    if (baseUrl === undefined) return null;
    return target.baseUrl === baseUrl
      ? ruleMet(baseUrl)
      : ruleBroken(`it is about ${target.baseUrl}, and must be about ${baseUrl}`);
  },
  subjects: judgeSubjects,
  verdicts: ({ verdicts = ["conformant"], exceptions = [] }, facts) => {
    const verdict = verdictWithoutAllowed(exceptions, facts);
    const isAccepted = verdicts.some((each) => each === verdict);
    return isAccepted ? ruleMet(verdict) : ruleBroken(`it is ${verdict}, and must be ${verdicts.join(" or ")}`);
  },
  exceptions: ({ exceptions = [] }, facts) =>
    metUnlessProblems(disallowedFailures(exceptions, facts), "nothing fails that may not"),
  requirements: ({ requirements }, { statement: { suite } }) => {
    if (requirements === undefined) return null;
    const set = suite.requirements ?? firstRequirementSet;
    return countsIn(requirements, set)
      ? ruleMet(set)
      : ruleBroken(`it is by set ${set}, and must be by ${requirements} or later`);
  },
  maxAgeDays: ({ maxAgeDays }, { statement: { finished }, now }) => {
    if (maxAgeDays === undefined) return null;
    const days = (now.getTime() - Date.parse(finished)) / dayMs;
    if (days < -maxClockErrorDays) return ruleBroken(`its run ended in the future, on ${dayOf(finished)}`);
    const says = `its run ended ${Math.max(0, Math.floor(days))} days ago`;
    return days <= maxAgeDays ? ruleMet(says) : ruleBroken(`${says}, and may have ended ${maxAgeDays} days ago`);
  },
  tiers: ({ tiers }, { statement: { target } }) => {
    if (tiers === undefined) return null;
    const missing = tiers.filter((tier) => !target.tiers.includes(tier));
    return metUnlessProblems(
      missing.map((tier) => `no key of the tier ${tier} was in use`),
      tiers.join(", "),
    );
  },
  profiles: ({ profiles }, { statement }) => {
    if (profiles === undefined) return null;
    if (statement.profiles === undefined) return ruleUnchecked("the statement has no profiles");
    const verdicts = new Map(statement.profiles.map(({ profile, verdict }) => [profile, verdict]));
    const wrong = profiles.filter((profile) => verdicts.get(profile) !== "conformant");
    return metUnlessProblems(
      wrong.map((profile) => `${profile} is ${verdicts.get(profile) ?? "not judged"}`),
      profiles.join(", "),
    );
  },
  readings: judgeReadings,
  excessPercent: judgeExcess,
  report: ({ report }, { matchesReport }) => {
    if (report === undefined) return null;
    if (matchesReport === null) return ruleUnchecked("no report was given");
    return matchesReport ? ruleMet("report and evidence match") : ruleBroken("report or evidence do not match");
  },
};

/** One hour, in days. A run may seem to end that far in the future, because the vendor's clock may be fast. */
const maxClockErrorDays = 1 / 24;

function judgeSigners({ signers = [], unsigned = false }: Policy, facts: PolicyFacts): JudgedRule {
  if (!facts.isSigned)
    return unsigned ? ruleMet("unsigned, which the policy accepts") : ruleBroken("the statement is unsigned");
  if (signers.length === 0) return ruleMet("the policy accepts unsigned statements, so no key was checked");
  const accepted = facts.signers.find(({ keyId }) =>
    signers.some(({ keyid }, at) => {
      const listed = facts.listedKeyIds[at] ?? null;
      return (keyid === undefined || keyid === keyId) && (listed === null || listed.has(keyId));
    }),
  );
  if (accepted !== undefined) return ruleMet(`signed by ${accepted.vendor}`);
  const hasList = facts.signers.length > 0 || facts.listedKeyIds.some((listed) => listed !== null);
  return hasList
    ? ruleBroken("no accepted signer has signed it")
    : ruleBroken("no accepted signer is known to have signed it: give --keys, or keys of the signer");
}

function judgeSubjects({ subjects }: Policy, { subjects: stated, isSigned }: PolicyFacts): JudgedRule | null {
  if (subjects === undefined) return null;
  if (!isSigned) return ruleUnchecked("only a signed statement says what was deployed");
  const names = stated.flatMap(({ name, digest }) =>
    Object.entries(digest).map(([kind, hex]) => `${name}=${kind}:${hex}`),
  );
  const missing = subjects.filter((subject) => !names.includes(subject));
  return metUnlessProblems(
    missing.map((subject) => `it is not about ${subject}`),
    subjects.join(", "),
  );
}

type AllowedExceptions = NonNullable<Policy["exceptions"]>;

function disallowedFailures(allowed: AllowedExceptions, { statement, now }: PolicyFacts): string[] {
  const today = dayOf(now.toISOString());
  return statement.exceptions
    .filter(({ outcome }) => outcome === "fail")
    .flatMap(({ check }) => {
      const untils = allowed.filter((each) => each.check === check).map(({ until }) => until);
      if (untils.some((until) => today <= until)) return [];
      const [until] = untils.toSorted().toReversed();
      return [until === undefined ? `${check} fails` : `${check} fails, which was allowed until ${until}`];
    });
}

/** Returns the verdict of a statement. `nonconformant` becomes `partial` if the policy allows all failed checks. */
function verdictWithoutAllowed(allowed: AllowedExceptions, facts: PolicyFacts): Statement["verdict"] {
  const { verdict, exceptions } = facts.statement;
  const isExcused =
    exceptions.some(({ outcome }) => outcome === "fail") && disallowedFailures(allowed, facts).length === 0;
  return verdict === "nonconformant" && isExcused ? "partial" : verdict;
}

function judgeReadings({ readings }: Policy, { statement }: PolicyFacts): JudgedRule | null {
  if (readings === undefined) return null;
  const { must = {}, mustNot = {} } = readings;
  const followed = new Map(Object.entries(statement.readings));
  const unknown = [...Object.keys(must), ...Object.keys(mustNot)].filter((clause) => !followed.has(clause));
  const wrong = [
    ...Object.entries(must).filter(([clause, wanted]) =>
      followed.get(clause)?.some((each) => ![wanted].flat().includes(each)),
    ),
    ...Object.entries(mustNot).filter(([clause, banned]) =>
      followed.get(clause)?.some((each) => [banned].flat().includes(each)),
    ),
  ];
  const problems = wrong.map(([clause]) => `${clause} is read as ${followed.get(clause)?.join(" and ")}`);
  return problems.length === 0 && unknown.length > 0
    ? ruleUnchecked(`the statement shows no reading of ${joinFirst(unknown, 8)}`)
    : metUnlessProblems(problems, "as the policy wants");
}

function judgeExcess({ excessPercent: max }: Policy, { statement: { limits } }: PolicyFacts): JudgedRule | null {
  if (max === undefined) return null;
  if (limits === undefined || limits.length === 0) return ruleUnchecked("the statement shows no tested rate limit");
  const nameOf = (limit: LimitVerdict): string => `the ${limit.window} of ${limit.tier}`;
  const problems = limits
    .filter((limit) => limit.kind === "exceeded" && (limit.excessPercent ?? Infinity) > max)
    .map((limit) => `${nameOf(limit)} is ${formatLimitVerdict(limit)}`);
  const open = limits.filter(({ kind }) => kind === "not proven").map(nameOf);
  return problems.length === 0 && open.length > 0
    ? ruleUnchecked(`the run did not prove the limits of ${joinFirst(open, 8)}`)
    : metUnlessProblems(problems, `no limit by more than ${max} %`);
}
