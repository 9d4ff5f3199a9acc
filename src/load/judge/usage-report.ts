import { hourMs } from "../../base/duration.ts";
import { requestsIn } from "../../rules/limits/admission/history.ts";
import { isAdmitted, isAgentCall } from "../../rules/limits/sample.ts";
import {
  type GrowthBounds,
  growthOf,
  tokenGrowthBounds,
  type UsageCount,
  usageCountIn,
  usageField,
} from "../../rules/limits/usage-report.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import type { LoadFacts } from "./facts.ts";

/** Judges USE-1: the usage report is available. */
export const judgeUsageReport = ({ evidence: { ledger } }: LoadFacts): JudgeResult => {
  if (ledger === null) return unproven("usage was not read");
  return ledger.before === null || ledger.after === null
    ? unproven("usage could not be read")
    : holds("usage was read before and after");
};

/** Creates the judge of USE-3 or USE-4: the usage report has three integers for `requests` or for `tokens`. */
const judgeCounts =
  (of: "requests" | "tokens") =>
  ({ evidence: { ledger } }: LoadFacts): JudgeResult => {
    if (ledger === null || ledger.after === null) return unproven("usage could not be read");
    return usageCountIn(ledger.after, of) === null
      ? breach(
          `\`${of}\` has the integers \`used\`, \`limit\` and \`remaining\``,
          JSON.stringify(usageField(ledger.after, of) ?? ledger.after).slice(0, 200),
        )
      : holds("three integers");
  };

export const judgeRequestCounts = judgeCounts("requests");

export const judgeTokenCounts = judgeCounts("tokens");

/** Judges USE-7: `requests.used` grows by the number of admitted requests. */
export const judgeRequestsUsed = (facts: LoadFacts): JudgeResult => judgeGrowth(facts, "requests", requestsBounds);

/** Judges USE-8: `tokens.used` grows by the tokens in the responses. */
export const judgeTokensUsed = (facts: LoadFacts): JudgeResult => judgeGrowth(facts, "tokens", tokensBounds);

/** Returns by how much a count of the usage report must grow, or a text that says why this growth is unknown. */
type BoundsOf = (facts: LoadFacts) => GrowthBounds | string;

function judgeGrowth(facts: LoadFacts, of: "requests" | "tokens", boundsOf: BoundsOf): JudgeResult {
  const { ledger } = facts.evidence;
  const [before, after] = [usageCountIn(ledger?.before, of), usageCountIn(ledger?.after, of)];
  if (before === null || after === null) return unproven("usage could not be read before and after");
  const bounds = boundsOf(facts);
  if (typeof bounds === "string") return unproven(bounds);
  const { min, max } = bounds;
  const { kind, grown } = growthOf(before, after, bounds);
  const text = `grew by ${grown}, from ${before.used} to ${after.used}`;
  if (kind === "agrees") return holds(text);
  if (kind === "begun again") return unproven("the usage report restarted during the run");
  if (kind === "short") {
    if (of === "tokens" && after.remaining === 0) return unproven("the month's tokens are used up");
    const reason = restartReason(facts, before, of) ?? expiryReason(facts, before, of, min - grown);
    if (reason !== null) return unproven(reason);
  }
  return breach(`\`${of}.used\` grows by ${min}${max > min ? ` to ${max}` : ""}`, text);
}

/** Whether the usage report counts too few requests or tokens, perhaps because the server updates it late. */
export const isUsageReportBehind = (facts: LoadFacts): boolean =>
  isCountBehind(facts, "requests", requestsBounds) || isCountBehind(facts, "tokens", tokensBounds);

function isCountBehind(facts: LoadFacts, of: "requests" | "tokens", boundsOf: BoundsOf): boolean {
  const { ledger } = facts.evidence;
  const [before, after] = [usageCountIn(ledger?.before, of), usageCountIn(ledger?.after, of)];
  const bounds = boundsOf(facts);
  if (before === null || after === null || typeof bounds === "string") return false;
  return ["short", "begun again"].includes(growthOf(before, after, bounds).kind);
}

/**
 * Returns by how much `requests.used` must grow. `min` counts only admitted requests. `max` adds refused requests,
 * errors and `GET /usage`, because a server may count these.
 */
function requestsBounds({ main, evidence: { ledger } }: LoadFacts): GrowthBounds {
  const { decisions } = main.history;
  const min = requestsIn(decisions.filter(({ outcome }) => outcome === "admitted"));
  return { min, max: requestsIn(decisions) + (ledger?.readsAfter ?? 1) };
}

function tokensBounds({ main }: LoadFacts): GrowthBounds | string {
  const agentCalls = main.samples.filter(isAgentCall);
  if (!agentCalls.some(isAdmitted)) return "no admitted request has a known number of tokens";
  const bounds = tokenGrowthBounds(agentCalls);
  return bounds.min === 0 ? "no response has a number of tokens" : bounds;
}

function expiryReason(
  { evidence, limits }: LoadFacts,
  before: UsageCount,
  of: "requests" | "tokens",
  lacking: number,
): string | null {
  if (of === "tokens" || evidence.isFresh || before.limit !== limits.perHour || lacking > before.used) return null;
  return `the key was used before, and ${lacking} of its requests may have left a rolling hour`;
}

function restartReason(
  { evidence, limits, sent, time }: LoadFacts,
  before: UsageCount,
  of: "requests" | "tokens",
): string | null {
  const { before: first, after: last } = evidence.ledger ?? {};
  if (usageField(first, "period") !== usageField(last, "period")) return "`period` changed during the run";
  if (of === "tokens" || sent.length === 0) return null;
  if (before.limit === limits.perMinute) return "`requests` speaks of the minute, which may have restarted";
  const [fromMs, toMs] = [sent[0]?.sentMs ?? 0, sent.at(-1)?.headMs ?? 0].map((ms) => time.at(ms).fromMs);
  const hourOf = (ms: number | undefined): number => Math.floor((ms ?? 0) / hourMs);
  const ends = sent.some(
    ({ limit, reset }) => limit === limits.perHour && reset !== null && reset * 1000 <= (toMs ?? 0) + 1000,
  );
  return before.limit === limits.perHour && (hourOf(fromMs) !== hourOf(toMs) || ends)
    ? "an hour ended during the run"
    : null;
}
