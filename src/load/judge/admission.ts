import { burstMs, maxBurstSeconds } from "../../rules/limits/key-history.ts";
import { describeRefusalCounting } from "../../rules/limits/admission/judge.ts";
import { hourMs, minuteMs } from "../../base/duration.ts";
import { hourModels, minuteModels, type LimiterShape } from "../../rules/limits/admission/models.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import {
  breachedClause,
  formatCounts,
  maxAdmittedWithin,
  judgeEachKey,
  judgeUnlessOtherBreach,
} from "./breach-clause.ts";
import { type KeyFacts, describeRequests, type LoadFacts, mayHaveSpentTokens } from "./facts.ts";
import { breach, holds, inapplicable, observed, type JudgeResult, unproven } from "./finding.ts";
import { needsTokensPerMonth, tokensExplain } from "../../rules/limits/month-tokens.ts";
import { isRefused } from "../../rules/limits/sample.ts";

const hasRefusals = ({ history }: KeyFacts): boolean => history.decisions.some(({ outcome }) => outcome === "refused");
const hasAdmitted = ({ history }: KeyFacts): boolean => history.decisions.some(({ outcome }) => outcome === "admitted");

const maxWithin =
  (windowMs: number, ofLimits: (facts: LoadFacts) => number) =>
  (use: KeyFacts, facts: LoadFacts): JudgeResult => {
    if (!hasRefusals(use)) return unproven(`nothing was refused: ${formatCounts(use)}`);
    if (maxAdmittedWithin(use, windowMs) >= ofLimits(facts)) return holds(formatCounts(use));
    if (mayHaveSpentTokens(use, facts)) return unproven(tokensExplain, needsTokensPerMonth);
    return unproven("refused before this limit was certainly reached");
  };

const minWithin =
  (windowMs: number, ofLimits: (facts: LoadFacts) => number) =>
  (use: KeyFacts, facts: LoadFacts): JudgeResult => {
    if (maxAdmittedWithin(use, windowMs) >= ofLimits(facts)) return holds(formatCounts(use));
    if (!hasRefusals(use) && hasAdmitted(use))
      return holds(`below the limit nothing was refused: ${formatCounts(use)}`);
    if (mayHaveSpentTokens(use, facts)) return unproven(tokensExplain, needsTokensPerMonth);
    return unproven("an admissible limiter explains the refusals before this limit was certainly reached");
  };

const perMinute = ({ limits }: LoadFacts): number => limits.perMinute;
const perHour = ({ limits }: LoadFacts): number => limits.perHour;

export const judgeMaxPerMinute = judgeUnlessOtherBreach("LIM-1", maxWithin(minuteMs, perMinute));
export const judgeMinPerMinute = judgeUnlessOtherBreach("LIM-2", minWithin(minuteMs, perMinute));
export const judgeMaxPerHour = judgeUnlessOtherBreach("LIM-3", maxWithin(hourMs, perHour));
export const judgeMinPerHour = judgeUnlessOtherBreach("LIM-4", minWithin(hourMs, perHour));

/** Judges LIM-7: a burst of the published size is admitted. */
export function judgeBurst(facts: LoadFacts): JudgeResult {
  const { burst } = facts.limits;
  if (burst === null) return inapplicable("the document does not show the tier's burst allowance");
  return judgeEachKey(facts, (use) => {
    const admitted = Math.max(maxAdmittedWithin(use, burstMs), hasRefusals(use) ? 0 : maxAdmittedWithin(use, minuteMs));
    if (admitted >= burst) return holds(`${admitted} admitted within ${burstMs / 1000} s`);
    const broken = breachedClause(use, facts);
    if (broken === null || !["LIM-2", "LIM-4"].includes(broken.clause))
      return unproven("fewer requests were sent, or an admissible limiter explains the refusals");
    const first = use.samples.find(isRefused);
    if (first === undefined || (first.retryAfterSeconds ?? Infinity) > maxBurstSeconds)
      return unproven("the minute admits too few (LIM-2)");
    return breach(`a burst of ${burst} is admitted`, `refused after ${admitted}`, describeRequests([first.id], facts));
  });
}

/** Judges LIM-10: invokes count against the key's limits. */
export function judgeInvokeIsLimited(facts: LoadFacts): JudgeResult {
  return judgeEachKey(facts, (use) => {
    const invokes = use.samples.filter(({ kind }) => kind === "invoke");
    const refusedCount = invokes.filter(isRefused).length;
    if (refusedCount > 0) return holds(`${refusedCount} invokes were refused`);
    const reported = new Set(invokes.flatMap(({ remaining }) => remaining ?? []));
    if (reported.size > 1) return holds("`Remaining` falls with invokes");
    if (breachedClause(use, facts)?.judged.breach !== "too many admitted") return unproven("no limit took effect");
    return breach("invoke draws on the allowance", `${formatCounts(use)}, and \`Remaining\` did not move`);
  });
}

/** Observes how many requests the server admits in a short burst (LIM-8). */
export function observeBurst({ main, limits }: LoadFacts): JudgeResult {
  if (!hasRefusals(main)) return unproven("there was no refusal");
  return observed(
    `at most ${maxAdmittedWithin(main, burstMs)} were admitted within ${burstMs / 1000} s (${limits.perMinute} a minute, burst ${limits.burst ?? "unpublished"})`,
  );
}

/** Observes which kinds of rate-limit window, e.g. fixed or rolling, fit the responses (LIM-15). */
export function observeShapes({ main }: LoadFacts): JudgeResult {
  if (!hasRefusals(main)) return unproven("there was no refusal");
  const shapes = main.shapes();
  if (shapes === null) return unproven("the history fits no admissible limiter");
  const announced = Object.keys(main.history.announced ?? {});
  const ends = announced.length > 0 ? `; the headers announce fixed ends of the ${announced.join(" and the ")}` : "";
  return observed(
    `hour ${formatShapes(shapes.hour, hourShapes)}; minute ${formatShapes(shapes.minute, minuteShapes)}; burst ${formatBurst(shapes.burstAdds)}${ends}`,
  );
}

const hourShapes = new Set(hourModels(publishedTiers.free).map(({ shape }) => shape)).size;
const minuteShapes = new Set(minuteModels(publishedTiers.free).map(({ shape }) => shape)).size;

const formatShapes = (possible: readonly LimiterShape[], all: number): string =>
  possible.length === all ? "of any shape" : possible.join(" or ");

function formatBurst(adds: readonly boolean[]): string {
  if (adds.length > 1) return "within or beyond its number";
  return adds[0] === true ? "beyond its number" : "within its number";
}

/** Observes whether refused requests count against the limits (LIM-16). */
export function observeRefusals({ main }: LoadFacts): JudgeResult {
  if (!hasRefusals(main)) return unproven("there was no refusal");
  const shapes = main.shapes();
  if (shapes === null) return unproven("the history fits no admissible limiter");
  return observed(describeRefusalCounting(shapes));
}
