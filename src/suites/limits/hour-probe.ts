import { hourMs, minuteMs } from "../../base/duration.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { minuteOverMs, toleranceMs } from "../../rules/limits/key-history.ts";
import { refusedForTokens, tokensExplain } from "../../rules/limits/month-tokens.ts";
import { dateSeconds, isAdmitted, type Sample, sampleOf, wholeNumberHeader } from "../../rules/limits/sample.ts";
import { tierProbe, type TierProbeContext } from "../../run/probe.ts";
import { SkipError } from "../../run/skip-reason.ts";
import { sendRequestsInState } from "../coverage/probe.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import {
  type BurstResult,
  exhaustAllowance,
  exhaustWithPause,
  invokeSample,
  invokeUnpaced,
  type KeySender,
  requestOtherEndpoints,
} from "./exhaust.ts";
import { keyHistoryOf, maxAdmittedWithin, provesExcess, type RunKeyHistory } from "./key-history.ts";
import {
  hourCost,
  isUsedUpTwice,
  maxBeyondLimit,
  minutesToUseUpHour,
  requireCountedRead,
  runAmongTiers,
  requestsPerMinuteOf,
  type SmallerTiers,
} from "./tier-limits.ts";
import { invokeSibling, invokeSiblingAgain, sendSiblingControl, type SiblingKeyResult } from "./sibling-key.ts";
import { expireEarlierUse, retryWhenDue, senderOf, type TimedRetry, useExpiryMs } from "./timed-retry.ts";
import { isHourLimit } from "../../rules/limits/header-rules.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { headerNames } from "../../spec/headers.ts";
import { isSameWindow } from "../shared/compare-samples.ts";

export interface HourEvidence extends RunKeyHistory {
  readonly beganFresh: boolean;
  readonly admitted: number;
  readonly end: "refused" | "all sent" | "failing";
  readonly refused: readonly Exchange[];
  readonly health: Exchange | null;
  readonly stream: Exchange | null;
  readonly afterStream: Exchange | null;
  readonly retried: TimedRetry | null;
  readonly twin: SiblingKeyResult;
}

/**
 * Pause on the test clock after using up the minute's limit. One minute is too short if a limiter counts part of the
 * previous minute.
 */
const twoMinutesMs = 2 * minuteMs + 3000;

export const hourExhausted = tierProbe(
  "an hour's allowance is used up",
  {
    needs: ["agents.answering"],
    requests: ({ limits }, target) => hourCost(limits, target).requests,
    executions: ({ limits }, target) => hourCost(limits, target).executions,
    window: ({ limits }) => limits.perHour,
    usesUp: "hour used up",
    waitSeconds: ({ limits }) => minutesToUseUpHour(limits, false) * 61 + 61,
    concurrent: true,
  },
  (context) => runAmongTiers(context, "hour", (smallerTiers) => exhaustHourOfTier(context, smallerTiers)),
);

async function exhaustHourOfTier(
  context: TierProbeContext<"agents.answering">,
  smallerTiers: SmallerTiers,
): Promise<HourEvidence> {
  const { tested, time, target, recorder, discovery } = context;
  const sender = senderOf(context);
  requireCountedRead(sender, "hour");
  const { beganFresh, idleSinceMs } = await expireEarlierUse(context);
  const pauseMs = target.clock === null ? minuteOverMs : twoMinutesMs;
  await waitPastFullHour(context, minutesToUseUpHour(tested.limits, target.clock !== null) * pauseMs);
  const siblingControl = await sendSiblingControl(context);
  const isSmall = isUsedUpTwice(sender, tested.limits.perHour);
  const options = { pauseMs, smallerTiers, before: 0, admittedBefore: null };
  const { admitted, failed, end } = await exhaustHour(sender, {
    ...options,
    invokesBeyondBoth: isSmall && target.clock !== null,
  });
  const isShort = target.clock !== null && end === "refused" && admitted + failed < tested.limits.perHour;
  const refused = end === "all sent" ? [] : [await invokeUnpaced(sender)];
  const health = refused.length === 0 ? null : await sender.client.health(sender.agent);
  let [stream, afterStream]: [Exchange | null, Exchange | null] = [null, null];
  if (end === "refused" && target.clock !== null) {
    // Without this pause, the minute's limit might refuse the stream instead of the hour's limit.
    await time.passTime(pauseMs, "only the hour must be exhausted");
    stream = await requestOtherEndpoints(sender, false);
    await sendRequestsInState(context, { key: tested.key, kind: tested.tier, state: "hour used up" });
    // If the target refuses this invoke, it should have refused the earlier stream, too.
    if (isSuccess(stream)) afterStream = await invokeUnpaced(sender);
  }
  const siblingUse = await invokeSibling(context, refused, siblingControl);
  const last = end === "refused" && target.clock !== null ? await invokeUnpaced(sender) : refused.at(-1);
  const retried = target.clock === null ? null : await retryWhenDue(sender, last);
  const twin = await invokeSiblingAgain(context, siblingUse, idleSinceMs);
  if (isShort) await smallerTiers.awaitResults(time, pauseMs);
  const isRepeated = isShort && !smallerTiers.some("isShort");
  if (isRepeated) await time.passTime(useExpiryMs, "earlier use of the key must expire");
  if (isRepeated || (!isShort && isSmall && retried !== null && statusOf(retried.exchange) === 200)) {
    const again = isRepeated ? { admittedBefore: admitted } : { before: 1, crossesLimit: true };
    const next = await exhaustHour(sender, { ...options, ...again });
    // A second `Reset` shows how long the window is. An admitted retry shows that the hour's limit caused the refusal,
    // not the month's used-up tokens.
    if (next.end === "refused") await retryWhenDue(sender, await invokeUnpaced(sender));
  }
  const use = keyHistoryOf(tested.key, tested.limits, { target, recorder, discovery, idleSinceMs });
  smallerTiers.report({ isShort, admitsBurst: false, isOver: provesExcess(use, "hour") });
  return { ...use, beganFresh, admitted, end, refused, health, stream, afterStream, retried, twin };
}

/** Minimum time between a full hour of the clock, such as 14:00, and the requests that use up the limit. */
const marginMs = 2 * minuteMs;

/**
 * Advances the test clock past the next full hour, such as 14:00, if less than `neededMs + marginMs` is left until
 * then. Fixed windows can end at full hours. Does nothing without a test clock.
 */
async function waitPastFullHour(
  { time, recorder }: TierProbeContext<"agents.answering">,
  neededMs: number,
): Promise<void> {
  const last = recorder.exchangesSinceOutage().findLast((each) => dateSeconds(each) !== null);
  const lastSeconds = last === undefined ? null : dateSeconds(last);
  if (!time.canAdvance || last === undefined || lastSeconds === null) return;
  const targetMs = lastSeconds * 1000 + time.targetMs() - (last.sentMs + last.clockMs);
  const leftMs = hourMs - (targetMs % hourMs);
  if (leftMs < neededMs + marginMs) await time.passTime(leftMs + marginMs, "no full hour must come meanwhile");
}

interface HourOptions {
  readonly pauseMs: number;
  /**
   * Number of requests already admitted when `exhaustHour` starts. These requests count toward the current hour and
   * minute.
   */
  readonly before: number;
  /** An earlier attempt was refused after this many admissions. This one pauses there to free slots; `null`: never. */
  readonly admittedBefore: number | null;
  /**
   * Whether to send one invoke after the hour's and the minute's limits are both reached. A `retry_after` that covers
   * only the minute then breaks LIM-13.
   */
  readonly invokesBeyondBoth?: boolean;
  /** Whether the last minute reaches the hour's limit after half of its requests. Default: with its last request. */
  readonly crossesLimit?: boolean;
  readonly smallerTiers: SmallerTiers;
}

type HourResult = Pick<BurstResult, "admitted" | "failed" | "end">;

/** Uses up the hour's limit minute by minute, so that the final refusal comes from the hour's limit. */
async function exhaustHour(
  sender: KeySender,
  { pauseMs, before, admittedBefore, invokesBeyondBoth = false, crossesLimit = false, smallerTiers }: HourOptions,
): Promise<HourResult> {
  const { limits, time } = sender;
  const { perHour, perMinute } = limits;
  const maxAtFirst = perHour + maxBeyondLimit;
  const max = 2 * perHour + perMinute + 1;
  const beforeLastMinute = perHour - (crossesLimit ? Math.ceil(perMinute / 2) : perMinute);
  const maxPlanned = requestsPerMinuteOf(limits, time.canAdvance);
  const sendMinute = createMinuteSender(sender, admittedBefore, smallerTiers);
  let usedInMinute = before;
  let admitted = before;
  let failed = 0;
  let endsEarly = false;
  for (let idleMinutes = 0; admitted < max && idleMinutes < 2;) {
    const leftInMinute =
      (admitted < beforeLastMinute ? Math.min(maxPlanned, beforeLastMinute - admitted) : perMinute) - usedInMinute;
    const planned = Math.min(leftInMinute, (time.canAdvance && admitted < maxAtFirst ? maxAtFirst : max) - admitted);
    const minute = await sendMinute({ admitted, planned, endsEarly, isFull: usedInMinute + planned === perMinute });
    usedInMinute = 0;
    admitted += minute.admitted;
    failed += minute.failed;
    endsEarly ||= minute.end === "refused" && minute.admitted < planned;
    if (minute.end === "failing") return { admitted, failed, end: "failing" };
    if (minute.end === "refused" && admitted >= perHour) return { admitted, failed, end: "refused" };
    if (invokesBeyondBoth && minute.end === "all sent" && planned === perMinute && admitted === perHour)
      await invokeUnpaced({ ...sender, client: sender.client.since("1.2") });
    if (admitted >= maxAtFirst) {
      await smallerTiers.awaitResults(time, pauseMs);
      if (smallerTiers.some("isOver")) return { admitted, failed, end: "all sent" };
    }
    idleMinutes = minute.admitted === 0 ? idleMinutes + 1 : 0;
    if (admitted < max && idleMinutes < 2) await time.passTime(pauseMs, "the next minute of the hour must begin");
  }
  return { admitted, failed, end: admitted < max ? "refused" : "all sent" };
}

interface MinuteOfHour {
  readonly admitted: number;
  readonly planned: number;
  readonly endsEarly: boolean;
  /** Whether this minute's requests reach the minute's limit. If so, the last request is an invoke. */
  readonly isFull: boolean;
}

/** Number of invokes just below the hour's limit. They prove that the limit holds for invokes, too. */
const invokesBelowLimit = 3;

function createMinuteSender(sender: KeySender, admittedBefore: number | null, { exceedsMinute }: SmallerTiers) {
  const { perHour } = sender.limits;
  let { countedRead } = sender;
  return async ({ admitted, planned, endsEarly, isFull }: MinuteOfHour): Promise<HourResult> => {
    let isReadRefused = false;
    const isReadAt = (index: number): boolean => {
      const isNearLimit =
        admitted + index >= perHour - invokesBelowLimit && admitted + index < perHour + maxBeyondLimit;
      return index < planned - Number(isFull) && !isNearLimit;
    };
    const options = {
      expected: endsEarly ? 0 : Math.min(planned, Math.max(0, perHour - admitted)),
      isReadAt,
      onRefused: ({ kind }: Sample) => {
        isReadRefused = kind !== "invoke";
      },
      ...(sender.time.canAdvance && { trustedFrom: 0 }),
    };
    const pauseAfter = admittedBefore === null ? null : admittedBefore - admitted;
    const minute = await exhaustWithPause({ ...sender, countedRead }, { ...options, max: planned }, pauseAfter);
    if (!isReadRefused || minute.end !== "refused" || !isAdmitted(await invokeSample(sender))) return minute;
    countedRead = null;
    requireCountedRead({ ...sender, countedRead }, "hour");
    if (exceedsMinute())
      throw new SkipError(`invokes exceed the minute (LIM-1), so the hour may take ${perHour} agent executions`);
    const sent = minute.admitted + 1;
    const rest = await exhaustAllowance({ ...sender, countedRead }, { ...options, max: planned - sent, expected: 0 });
    return { admitted: sent + rest.admitted, failed: minute.failed + rest.failed, end: rest.end };
  };
}

export function judgeStreamBeyondHour(use: HourEvidence, isOver: boolean): Finding<never> {
  const { stream, afterStream, refused, limits, beganFresh } = use;
  if (stream === null) return inapplicable("without a test clock the hour is not exhausted alone");
  if (hasStatus(stream, 429)) return holds();
  if (!isSuccess(stream)) return inapplicable(`a stream of this agent gets ${outcomeOf(stream)}`);
  if (isOver) return unproven("more are admitted than published (LIM-3)");
  const before = refused.at(-1);
  if (before === undefined || afterStream === null || !hasStatus(before, 429) || !hasStatus(afterStream, 429))
    return unproven("the end of the hour, or requests that came back, may explain the stream");
  const [first, between, last] = [sampleOf(before), sampleOf(stream), sampleOf(afterStream)];
  const isOneWindow = isSameWindow(first, between) && isSameWindow(between, last) && isSameWindow(first, last);
  const isExhausted = [first, last].every(({ limit, remaining }) => remaining === 0 && isHourLimit(limit, limits));
  if (!beganFresh || admittedInWindow(use, first) < limits.perHour || !isOneWindow || !isExhausted)
    return unproven("the responses do not prove that the stream was in the exhausted hour");
  return breach(
    `a stream is refused too once ${limits.perHour} requests of an hour are used`,
    `${outcomeOf(stream)}, while invokes before and after it are refused until the same \`X-RateLimit-Reset\``,
    before,
    stream,
    afterStream,
  );
}

function admittedInWindow({ samples }: HourEvidence, refusal: Sample): number {
  if (refusal.resetAfter === null) return 0;
  const windowMs = hourMs - refusal.resetAfter * 1000 + toleranceMs;
  // Compares only advances of the test clock, not real time. Some test clocks stand still between advances.
  const isInWindow = ({ headClockMs }: Sample): boolean =>
    headClockMs <= refusal.sentClockMs && refusal.sentClockMs - headClockMs <= windowMs;
  return samples.filter((each) => isAdmitted(each) && isInWindow(each)).length;
}

export function judgeRemainingOfHour(use: HourEvidence, isBroken: boolean): Finding<never> {
  const refusal = use.refused.findLast((each) => hasStatus(each, 429));
  if (refusal === undefined) return inapplicable("no request was refused with 429");
  if (refusedForTokens(use.samples, use.limits).has(refusal.id)) return inapplicable(tokensExplain);
  const isReached = maxAdmittedWithin(use.samples, hourMs) >= use.limits.perHour;
  if (!isReached || isBroken) return inapplicable("the hour's limit does not explain the refusal");
  const remaining = wholeNumberHeader(refusal, headerNames.rateRemaining);
  if (remaining === null || !isHourLimit(wholeNumberHeader(refusal, headerNames.rateLimit), use.limits))
    return inapplicable("the headers of the 429 do not report the hour");
  return remaining === 0
    ? holds()
    : breach("`X-RateLimit-Remaining: 0`", `\`X-RateLimit-Remaining: ${remaining}\``, refusal);
}
