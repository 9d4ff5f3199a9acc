import type { Exchange } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";
import { check, observe } from "../../run/judge/check.ts";
import { breach, holds, observed, unproven } from "../../run/judge/finding.ts";
import { retryAfterSeconds, wholeNumberHeader } from "../../rules/limits/sample.ts";
import { describeStatus, hasStatus, isSuccess, outcomeOf, reportedTokens } from "../shared/response.ts";
import { quotaExhausted, type QuotaExhausted, tokensIn, type QuotaCall } from "./quota-probes.ts";

/** Whether the quota had been reached before an invoke. The invoke that reaches it may succeed. */
const isBeyond = ({ usedBefore }: QuotaCall, quota: number | null): boolean => quota !== null && usedBefore >= quota;

/** The refusal for tokens: after the quota was reached, or with requests left in the window. */
function refusalIn({ turns, quota }: QuotaExhausted): Exchange | null {
  const last = turns.at(-1);
  if (last === undefined || !isRefusal(last.exchange)) return null;
  const leavesRoom = (wholeNumberHeader(last.exchange, headerNames.rateRemaining) ?? 0) > 0;
  return isBeyond(last, quota) || leavesRoom ? last.exchange : null;
}

/** Whether a status may refuse for tokens. */
const isRefusal = (exchange: Exchange): boolean => hasStatus(exchange, 402, 403, 429);

/** Whether usage grew by more than the responses reported. */
function overstates({ readings, turns }: QuotaExhausted): boolean {
  const used = readings.map((each) => tokensIn(each, "used")).filter((each) => each !== null);
  const told = turns.filter(({ exchange }) => isSuccess(exchange)).map(({ exchange }) => reportedTokens(exchange));
  if (told.includes(null)) return false;
  const spent = told.reduce<number>((total, each) => total + (each ?? 0), 0);
  return (used.at(-1) ?? 0) - (used[0] ?? 0) > spent;
}

export const quotaChecks = [
  check("LIM-19", quotaExhausted, (evidence) => {
    const { turns, quota, readings } = evidence;
    if (quota === null) return unproven("the key's quota is not known", "`tier` of the key in the target file");
    const beyond = turns.find((turn) => isBeyond(turn, quota) && isSuccess(turn.exchange));
    if (beyond !== undefined && overstates(evidence))
      return unproven("usage reports more tokens than the answers do, so that what was used is not known (USE-8)");
    if (beyond !== undefined)
      return breach(
        `no further turn once ${quota} tokens of the month are used`,
        `${outcomeOf(beyond.exchange)} with ${beyond.usedBefore} tokens used before it`,
        beyond.exchange,
        ...readings.slice(-1),
      );
    if (refusalIn(evidence) !== null) return holds();
    const last = turns.at(-1);
    if (last === undefined || !isSuccess(last.exchange))
      return unproven(`the agent came to ${last === undefined ? "nothing" : describeStatus(last.exchange)}`);
    return unproven(
      `${turns.length} turns did not use the month's tokens up: about ${last.usedBefore} of ${quota} were used`,
      "a key nearer to its quota (`nearQuota`), or with few tokens (`tokensPerMonth`), in the target file",
    );
  }),
  observe("LIM-20", quotaExhausted, (evidence) => {
    const { turns, quota } = evidence;
    const refusal = refusalIn(evidence);
    if (refusal !== null) {
      const seconds = retryAfterSeconds(refusal);
      return observed(
        `${describeStatus(refusal)}, ${seconds === null ? "no `retry_after`" : `\`retry_after\` ${seconds} s`}`,
      );
    }
    const beyond = turns.find((turn) => isBeyond(turn, quota) && isSuccess(turn.exchange));
    return beyond === undefined ? unproven("the month's tokens were not used up") : observed("it is answered");
  }),
];
