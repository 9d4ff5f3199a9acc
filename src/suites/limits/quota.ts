import { sumOf } from "../../base/numbers.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { retryAfterSeconds, wholeNumberHeader } from "../../rules/limits/sample.ts";
import { type Check, check, observe } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, observed, unproven } from "../../run/judge/finding.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { sendRequestsInState } from "../coverage/probe.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { headerNames } from "../../spec/headers.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { describeStatus, hasStatus, isSuccess, outcomeOf, reportedTokens } from "../shared/response.ts";
import { eventsOf } from "../stream/events.ts";
import {
  type BatchBeyondQuota,
  mayRefuseForTokens,
  judgeBatchBeyondQuota,
  refusesForTokens,
  submitBatchBeyond,
  tokensIn,
} from "./beyond-quota.ts";
import { ensureAllowance, helloBody, unpaced } from "./exhaust.ts";

interface QuotaCall {
  readonly usedBefore: number;
  readonly exchange: Exchange;
}

export interface QuotaEvidence {
  readonly readings: readonly Exchange[];
  readonly quota: number | null;
  readonly turns: readonly QuotaCall[];
  readonly streamed?: StreamsBeyondQuota | null;
  readonly batched?: BatchBeyondQuota | null | undefined;
  readonly started?: BatchBeyondQuota | null | undefined;
}

interface StreamsBeyondQuota {
  readonly streams: readonly QuotaCall[];
  /** An invoke after the streams, which shows whether the tokens are still used up. */
  readonly control: Exchange;
}

const maxCalls = 12;
const maxBeyond = 2;
/** Maximum number of streams. The first can use up the last tokens, so that only the second exceeds the quota. */
const maxStreams = 2;
const requestsBeyond = 2 * maxStreams + 1;

export const quotaExhausted = probe(
  "the month's tokens of a key are used up",
  { needs: ["keys.nearQuota", "agents.answering"], requests: 0, stage: "limits", usesUp: "tokens spent" },
  async (context): Promise<QuotaEvidence> => {
    const { client, given, target, time, recorder } = context;
    const key = given["keys.nearQuota"];
    const own = client.as(key);
    const limits = limitsOf(key, target);
    const allowance = { time, recorder, perMinute: limits?.perMinute ?? publishedTiers.free.perMinute };
    const readings: Exchange[] = [];
    const read = async (): Promise<Exchange> => {
      await ensureAllowance(own, 1, allowance);
      const reading = await own.send("GET", "/usage", unpaced);
      readings.push(reading);
      return reading;
    };
    const first = await read();
    const quota = key.tokensPerMonth ?? limits?.tokensPerMonth ?? tokensIn(first, "limit");
    let used = tokensIn(first, "used") ?? 0;
    const turns: QuotaCall[] = [];
    for (let beyond = 0; quota !== null && beyond < maxBeyond && turns.length < maxCalls;) {
      if (used >= quota) beyond += 1;
      await ensureAllowance(own, 1, allowance);
      // `unpaced` ignores `retry_after`. After a refusal for tokens, `retry_after` can last until the next month.
      const exchange = await own.invoke(given["agents.answering"], helloBody, unpaced);
      turns.push({ usedBefore: used, exchange });
      if (!isSuccess(exchange) && (statusOf(exchange) ?? 0) < 500) break;
      const tokens = reportedTokens(exchange);
      used = tokens === null ? (tokensIn(await read(), "used") ?? used) : used + tokens;
    }
    // After a refusal for tokens, `read()` can wait until the next month. So the probe first sends streams and batches.
    const streamed = await streamBeyond(context, { readings, quota, turns }, used);
    const batched = await submitBatchBeyond(context, streamed?.control ?? null);
    const started = await submitBatchBeyond(context, batched?.control ?? streamed?.control ?? null, "operation");
    if (turns.length > 0) await read();
    const last = turns.at(-1);
    if (last !== undefined && quota !== null && used >= quota && hasStatus(last.exchange, 429) && time.canAdvance) {
      // Without this pause, the limit per minute might refuse the next requests before the quota does.
      await time.passTime(minuteOverMs, "only the tokens must be spent");
      await sendRequestsInState(context, { key, kind: "near quota", state: "tokens spent" });
    }
    return { readings, quota, turns, streamed, batched, started };
  },
);

async function streamBeyond(
  { client, given, target, time }: ProbeContext<"keys.nearQuota" | "agents.answering">,
  evidence: QuotaEvidence,
  used: number,
): Promise<StreamsBeyondQuota | null> {
  const { quota } = evidence;
  const refusal = refusalIn(evidence);
  if (quota === null || refusal === null) return null;
  if (time.canAdvance) await time.passTime(minuteOverMs, "only the tokens must be spent");
  else if ((wholeNumberHeader(refusal, headerNames.rateRemaining) ?? 0) < requestsBeyond) return null;
  const own = client.as(given["keys.nearQuota"]).since("1.1");
  const agent = target.agents.streaming ?? given["agents.answering"];
  const streams: QuotaCall[] = [];
  for (let usedBefore = used; streams.length < maxStreams;) {
    const exchange = await own.stream(agent, helloBody, unpaced);
    streams.push({ usedBefore, exchange });
    if (!isSuccess(exchange) || usedBefore >= quota) break;
    usedBefore = tokensIn(await own.send("GET", "/usage", unpaced), "used") ?? usedBefore;
  }
  return { streams, control: await own.invoke(given["agents.answering"], helloBody, unpaced) };
}

const wasQuotaReached = ({ usedBefore }: QuotaCall, quota: number | null): boolean =>
  quota !== null && usedBefore >= quota;

/** Returns the last invoke if refused for tokens: the quota is used up, or `Remaining` above 0 rules out the rate. */
export function refusalIn({ turns, quota }: QuotaEvidence): Exchange | null {
  const last = turns.at(-1);
  if (last === undefined || !mayRefuseForTokens(last.exchange)) return null;
  const hasAllowance = (wholeNumberHeader(last.exchange, headerNames.rateRemaining) ?? 0) > 0;
  return wasQuotaReached(last, quota) || hasAllowance ? last.exchange : null;
}

const usedTokens = (readings: readonly Exchange[]): number[] =>
  readings.flatMap((each) => tokensIn(each, "used") ?? []);

/** Returns the tokens used at the start, plus those that invokes and streams report; `null` if a number is missing. */
function accountedTokens({ readings, turns, streamed }: QuotaEvidence): number | null {
  const [first] = usedTokens(readings);
  const ran = [...turns, ...(streamed?.streams ?? [])].filter(
    ({ exchange }) => isSuccess(exchange) && (hasEvent(exchange, "done") || !hasEvent(exchange, "error")),
  );
  const reported = ran.map(({ exchange }) => reportedTokens(exchange));
  return first === undefined || reported.includes(null) ? null : first + sumOf(reported.map((each) => each ?? 0));
}

function usageOverstates(evidence: QuotaEvidence): boolean {
  const accounted = accountedTokens(evidence);
  const last = usedTokens(evidence.readings).at(-1) ?? 0;
  return accounted !== null && last > accounted;
}

/**
 * Whether a 2xx response contains this event. The status alone is not enough: some servers send 200 and then refuse the
 * stream with an `error` event.
 */
const hasEvent = (exchange: Exchange, wanted: "done" | "error"): boolean =>
  isSuccess(exchange) && eventsOf(exchange).some(({ name }) => name === wanted);

const hasSpentTokens = (exchange: Exchange): boolean =>
  hasEvent(exchange, "done") && (reportedTokens(exchange) ?? 0) > 0;

function judgeStreamsBeyond(evidence: QuotaEvidence): Finding<never> {
  const { quota, streamed } = evidence;
  const refusal = refusalIn(evidence);
  if (streamed === undefined || streamed === null || refusal === null)
    return unproven("no stream followed an invoke that was refused for its tokens (LIM-19)");
  if (usageOverstates(evidence))
    return unproven("usage reports more tokens than the responses do, so the tokens used are unknown (USE-8)");
  const { streams, control } = streamed;
  const last = streams.at(-1);
  if (last === undefined || !refusesForTokens(control))
    return unproven(`an invoke after the streams was not refused for its tokens (${outcomeOf(control)})`);
  if (refusesForTokens(last.exchange)) return holds();
  if (wasQuotaReached(last, quota) && hasSpentTokens(last.exchange))
    return breach(
      `no stream succeeds once ${quota} tokens of the month are used, as no invoke does`,
      `${outcomeOf(last.exchange)} and \`done\` with ${last.usedBefore} tokens used before it, between two refused invokes`,
      last.exchange,
      refusal,
      control,
    );
  if (wasQuotaReached(last, quota) && hasEvent(last.exchange, "error")) return holds();
  return unproven(`no stream was refused for its tokens, or spent tokens with none left (${outcomeOf(last.exchange)})`);
}

/** Tolerance for rounding: servers may round `retry_after`, and the end of the month, to whole seconds. */
const slackSeconds = 2;

function judgeTokenWait(evidence: QuotaEvidence): Finding<never> {
  const control = evidence.streamed?.control;
  const refusal = refusalIn(evidence);
  const seconds = refusal === null || !hasStatus(refusal, 429) ? null : retryAfterSeconds(refusal);
  if (refusal === null || control === undefined || seconds === null)
    return inapplicable("no refusal for tokens had a `retry_after`, and a request after it");
  const advancedMs = control.clockMs - refusal.clockMs;
  const passed = (advancedMs === 0 ? control.sentMs - refusal.answer.endMs : advancedMs) / 1000;
  if (passed < seconds + slackSeconds)
    return inapplicable(`\`retry_after\` is ${seconds} s, longer than the run waited`);
  // A 429 with `Remaining: 0` can come from the rate limit instead of the token quota.
  const isForTokens = hasStatus(control, 429) && (wholeNumberHeader(control, headerNames.rateRemaining) ?? 0) > 0;
  if (!isForTokens) return inapplicable(`the next invoke was not refused for tokens (${outcomeOf(control)})`);
  return breach(
    `a request is admitted after \`retry_after\`, ${seconds} s`,
    `429, ${Math.floor(passed)} s after the refusal, which was for the month's tokens`,
    refusal,
    control,
  );
}

const checkBatchBeyond = (as: string, what: "batch" | "operation", of: "batched" | "started"): Check =>
  check("LIM-19", quotaExhausted, (found) => judgeBatchBeyondQuota(found[of], what, accountedTokens(found)), {
    as,
    since: "1.2",
  });

export const quotaChecks = [
  check("LIM-19", quotaExhausted, (evidence) => {
    const { turns, quota, readings } = evidence;
    if (quota === null) return unproven("the key's quota is not known", "`tier` of the key in the target file");
    const beyond = turns.find((turn) => wasQuotaReached(turn, quota) && isSuccess(turn.exchange));
    if (beyond !== undefined && usageOverstates(evidence))
      return unproven("usage reports more tokens than the responses do, so the tokens used are unknown (USE-8)");
    if (beyond !== undefined)
      return breach(
        `no further invoke succeeds once ${quota} tokens of the month are used`,
        `${outcomeOf(beyond.exchange)} with ${beyond.usedBefore} tokens used before it`,
        beyond.exchange,
        ...readings.slice(-1),
      );
    if (refusalIn(evidence) !== null) return holds();
    const last = turns.at(-1);
    if (last === undefined || !isSuccess(last.exchange))
      return unproven(`the invoke failed (${last === undefined ? "none was sent" : describeStatus(last.exchange)})`);
    return unproven(
      `${turns.length} invokes did not use up the month's tokens: about ${last.usedBefore} of ${quota} were used`,
      "a key nearer to its quota (`nearQuota`), or with few tokens (`tokensPerMonth`), in the target file",
    );
  }),
  check("LIM-19", quotaExhausted, judgeStreamsBeyond, { as: "streams", since: "1.1" }),
  checkBatchBeyond("batches", "batch", "batched"),
  checkBatchBeyond("operations", "operation", "started"),
  check("LIM-13", quotaExhausted, judgeTokenWait, { as: "tokens", since: "1.2" }),
  observe("LIM-20", quotaExhausted, (evidence) => {
    const { turns, quota } = evidence;
    const refusal = refusalIn(evidence);
    if (refusal !== null) {
      const seconds = retryAfterSeconds(refusal);
      return observed(
        `${describeStatus(refusal)}, ${seconds === null ? "no `retry_after`" : `\`retry_after\` ${seconds} s`}`,
      );
    }
    const beyond = turns.find((turn) => wasQuotaReached(turn, quota) && isSuccess(turn.exchange));
    return beyond === undefined ? unproven("the month's tokens were not used up") : observed("the request succeeds");
  }),
];
