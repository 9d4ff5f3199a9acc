import { dayMs, hourMs } from "../../base/duration.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { retryAfterSeconds } from "../../rules/limits/sample.ts";
import { unixMsOf } from "../../rules/bodies/timestamps.ts";
import { usageField } from "../../rules/limits/usage-report.ts";
import { check, type EvidenceOf } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { probe } from "../../run/probe.ts";
import { codeOf, isSuccess, outcomeOf } from "../shared/response.ts";
import { helloBody, unpaced } from "./exhaust.ts";
import { type QuotaEvidence, quotaExhausted, refusalIn } from "./quota.ts";
import { mayRefuseForTokens, tokensIn } from "./beyond-quota.ts";
import { useExpiryMs } from "./timed-retry.ts";

const since = "1.2";

/** A read of a key's usage, and an invoke right after it. */
interface MonthState {
  readonly usage: Exchange;
  readonly invoked: Exchange;
}

interface NextMonth {
  readonly before: MonthState;
  /** `null` if the target did not refuse the invoke in `before`. The probe then does not wait for the next month. */
  readonly after: MonthState | null;
}

/** The longest month has 31 days. One extra day covers every time zone. */
const monthOverMs = 32 * dayMs;
/** Minimum wait, in real time, for a scheduled job of the target that resets the month's tokens. */
const jobMs = 3000;

const monthTurned = probe(
  "a key without tokens is used again in the next month",
  {
    needs: ["clock", "keys.nearQuota", "agents.answering"],
    requests: 0,
    executions: 1,
    stage: "next month",
    since,
  },
  async ({ client, given, time }): Promise<NextMonth> => {
    const own = client.as(given["keys.nearQuota"]);
    const use = async (): Promise<MonthState> => ({
      usage: await own.send("GET", "/usage", unpaced),
      invoked: await own.invoke(given["agents.answering"], helloBody, { ...unpaced, noRetry: true }),
    });
    await time.passTime(useExpiryMs, "only the tokens must be spent");
    const before = await use();
    if (!mayRefuseForTokens(before.invoked)) return { before, after: null };
    await time.passTime(monthOverMs, "the month must end");
    const after = await use();
    if (!mayRefuseForTokens(after.invoked)) return { before, after };
    await time.sleepReal(Math.max(jobMs, time.settleMs));
    await time.passTime(dayMs, "the tokens of the new month must arrive");
    return { before, after: await use() };
  },
);

const periodIn = (usage: Exchange): unknown => usageField(bodyJson(usage), "period");

const minMonthMs = 27 * dayMs;

/**
 * Whether a new month has begun: `period` is a month later, or `retry_after` changed by over an hour. Ignores `period`
 * if it differs even between earlier usage reports, which are of one month.
 */
function isNewMonth({ readings }: QuotaEvidence, before: MonthState, after: MonthState): boolean {
  const [period, laterPeriod] = [periodIn(before.usage), periodIn(after.usage)];
  const isSteady = readings.filter(isSuccess).every((each) => periodIn(each) === period);
  if (isSteady && unixMsOf(String(laterPeriod)) - unixMsOf(String(period)) >= minMonthMs) return true;
  const [seconds, laterSeconds] = [retryAfterSeconds(before.invoked), retryAfterSeconds(after.invoked)];
  return seconds !== null && laterSeconds !== null && Math.abs(seconds - laterSeconds) * 1000 > hourMs;
}

const isSameRefusal = (one: Exchange, other: Exchange): boolean =>
  statusOf(one) === statusOf(other) && codeOf(one) === codeOf(other);

const on = { spent: quotaExhausted, turned: monthTurned };

function judgeNextMonth({ spent, turned: { before, after } }: EvidenceOf<typeof on>): Finding<never> {
  // The target refused this key for its tokens in an earlier probe, and now admits it. The month may have ended since.
  if (after === null && isSuccess(before.invoked) && refusalIn(spent) !== null) return holds();
  if (after === null)
    return unproven(`the key was not refused for its tokens before the month ended (${outcomeOf(before.invoked)})`);
  const { usage, invoked } = after;
  if (isSuccess(invoked)) return holds();
  const used = tokensIn(before.usage, "used") ?? 0;
  if (!spent.turns.some(({ exchange }) => isSuccess(exchange)) && used < (spent.quota ?? Infinity))
    return unproven("nothing shows that the key was refused for its tokens");
  if (!isSuccess(usage) || !mayRefuseForTokens(invoked) || !isSameRefusal(before.invoked, invoked))
    return unproven(
      `in the next month, the key is refused otherwise than before (${outcomeOf(usage)}, ${outcomeOf(invoked)})`,
    );
  if (!isNewMonth(spent, before, after))
    return unproven("neither `period` nor `retry_after` shows that the month follows the test clock");
  const tokens = tokensIn(usage, "used");
  const reported = tokens === null ? "" : `, with ${tokens} tokens used in the report of usage`;
  return breach(
    "an invoke succeeds in the next month, of which no token is used",
    `${outcomeOf(invoked)} after ${monthOverMs / dayMs} days or more without a success${reported}`,
    invoked,
    usage,
    before.invoked,
    before.usage,
  );
}

export const nextMonthCheck = check("LIM-19", on, judgeNextMonth, { as: "next month", since });
