import { minuteMs } from "../../base/duration.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { minuteOverMs, toleranceMs } from "../../rules/limits/key-history.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import { sendRequestsInState } from "../coverage/probe.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { tierProbe } from "../../run/probe.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import {
  type BurstResult,
  exhaustAllowance,
  type ExhaustOptions,
  type ExhaustResult,
  exhaustWithPause,
  invokeSample,
  invokeUnpaced,
  type KeySender,
  requestOtherEndpoints,
  samplesSince,
  sendUntilRefused,
  unpaced,
  waitIfAllowed,
} from "./exhaust.ts";
import {
  judgeExhaustedWindow,
  keyHistoryOf,
  maxAdmittedWithin,
  minuteReached,
  provesExcess,
  type RunKeyHistory,
} from "./key-history.ts";
import {
  type SmallerTiers,
  isUsedUpTwice,
  maxBeyondLimit,
  minuteCost,
  requireCountedRead,
  runAmongTiers,
} from "./tier-limits.ts";
import { sendSiblingControl, type SiblingKeyResult, invokeSibling, invokeSiblingAgain } from "./sibling-key.ts";
import {
  expireEarlierUse,
  type LimitsProbeContext,
  pastNearReset,
  retryEarly,
  retryWhenDue,
  senderOf,
  type TimedRetry,
  useExpiryMs,
} from "./timed-retry.ts";

export interface MinuteEvidence extends RunKeyHistory {
  readonly beganFresh: boolean;
  readonly first: ExhaustResult;
  readonly refused: readonly Exchange[];
  readonly health: readonly Exchange[];
  readonly early: TimedRetry | null;
  readonly retried: TimedRetry | null;
  readonly twin: SiblingKeyResult;
  readonly other: Exchange | null;
}

/** Seconds left in the window when the burst starts. A constant `retry_after` of 60 is then noticeably wrong. */
const tailSeconds = 40;
/** Margin in waits between two bursts: twice the tolerance for rounded times, and 200 ms for sending. */
export const marginMs = 2 * toleranceMs + 200;
/** Returns a number of requests that exceeds every legal limiter's maximum, even across two windows. */
export const requestsBeyondMinute = ({ perMinute, burst }: TierLimits): number =>
  2 * (perMinute + (burst ?? perMinute)) + 2;

export const minuteExhausted = tierProbe(
  "a minute's allowance is used up",
  {
    needs: ["agents.answering"],
    requests: ({ limits }, target) => minuteCost(limits, target).requests,
    executions: ({ limits }, target) => minuteCost(limits, target).executions,
    window: ({ limits }) => limits.perMinute,
    usesUp: "minute used up",
    waitSeconds: () => 60.5,
    optionalWaitSeconds: marginMs / 1000,
  },
  (context) => runAmongTiers(context, "minute", (smallerTiers) => exhaustMinute(context, smallerTiers)),
);

async function exhaustMinute(context: LimitsProbeContext, smallerTiers: SmallerTiers): Promise<MinuteEvidence> {
  const { tested, time, target, recorder, discovery } = context;
  const { limits } = tested;
  const sender = senderOf(context);
  requireCountedRead(sender, "minute");
  const { beganFresh, idleSinceMs } = await expireEarlierUse(context);
  const hasClock = target.clock !== null;
  const isSmall = hasClock && isUsedUpTwice(sender, limits.perMinute);
  const { first, lastedMs, beganMs, alreadySent, siblingControl } = await exhaustFirstWindow(
    sender,
    context,
    smallerTiers,
  );
  const refused = first.end === "all sent" ? [] : [await invokeUnpaced(sender)];
  const siblingUse = await invokeSibling(context, refused, siblingControl);
  const health: Exchange[] = [];
  const healthReads = hasFewRequests(target) ? 1 : 3;
  for (let count = 0; count < healthReads; count++) health.push(await sender.client.health(sender.agent));
  const refusedAtMs = time.targetMs();
  const isOver = !hasClock && first.admitted + alreadySent > limits.perMinute + (limits.burst ?? Infinity);
  if (first.end === "refused" && !(isOver && hasFewRequests(target))) {
    await requestOtherEndpoints(sender, hasClock);
    await sendRequestsInState(context, { key: tested.key, kind: tested.tier, state: "minute used up" });
  }
  const latest = await latestRefusal(context, sender, refused);
  if (latest !== undefined && !refused.includes(latest)) refused.push(latest);
  const early = await retryEarly(sender, latest);
  if (early !== null) refused.push(early.exchange);
  const last = early?.exchange ?? latest;
  // A burst across two fixed windows can legally exceed the limit. Therefore, the second burst starts at another second
  // of the minute, and not shortly before a reset.
  const untilOtherPhaseMs = pastNearReset(minuteMs + marginMs - (time.targetMs() - refusedAtMs), last, {
    nowMs: time.now(),
    perMinute: limits.perMinute,
  });
  const isAtOtherPhase = isOver && alreadySent > 0 && time.canWait(untilOtherPhaseMs);
  const retried = await retryWhenDue(sender, last, isAtOtherPhase ? untilOtherPhaseMs : 0);
  const twin = await invokeSiblingAgain(context, siblingUse, idleSinceMs);
  const history = () => keyHistoryOf(tested.key, limits, { target, recorder, discovery, idleSinceMs });
  // Whether the target refused below the limit, e.g. after 8 of 10 requests. Without a test clock, earlier requests of
  // the same minute count, too.
  const isShort =
    first.end === "refused" &&
    first.admitted + first.failed < limits.perMinute &&
    (hasClock || !minuteReached(history()));
  const isProven = hasClock && smallerTiers.some("isOver");
  const admitsBurst = first.admitted > limits.perMinute;
  const isExplained =
    hasClock &&
    smallerTiers.some("admitsBurst") &&
    first.admitted <= limits.perMinute + (limits.burst ?? limits.perMinute);
  if (isShort && !(hasClock && smallerTiers.some("isShort"))) await exhaustAfterIdle(sender, hasClock, first.admitted);
  else if (!isShort && isSmall && !isProven && retried !== null && statusOf(retried.exchange) === 200)
    await exhaustNextWindows(sender, grantedBurst(sender, smallerTiers));
  else if (!isShort && isAtOtherPhase) await sendUntilRefused(sender, wholeMinuteOptions(limits));
  else if (!isShort && !isSmall && first.end === "refused" && admitsBurst && !isExplained)
    await exhaustAtOtherPhases(sender, { ...first, beganMs, lastedMs });
  const other = first.end === "all sent" ? await sender.client.send("GET", "/usage", unpaced) : null;
  const use = history();
  const isBeyond = maxAdmittedWithin(use.samples, minuteMs) > limits.perMinute;
  const isRefuted = (): boolean => judgeExhaustedWindow(use, "minute", false).kind === "breach";
  smallerTiers.report({ isShort, admitsBurst, isOver: isBeyond && (provesExcess(use, "minute") || isRefuted()) });
  return { ...use, beganFresh, first, refused, health, early, retried, twin, other };
}

async function exhaustFirstWindow(sender: KeySender, context: LimitsProbeContext, smallerTiers: SmallerTiers) {
  const { limits, time } = sender;
  const { perMinute } = limits;
  const hasClock = context.target.clock !== null;
  // If a tier with a smaller limit admitted too many, the fault is known: a few requests beyond this limit suffice.
  const isProven = hasClock && smallerTiers.some("isOver");
  const burst = grantedBurst(sender, smallerTiers);
  const options = { ...wholeMinuteOptions(limits, burst), ...(isProven && { max: perMinute + maxBeyondLimit }) };
  const { max, expected } = options;
  const unrefused = hasClock && isUsedUpTwice(sender, perMinute) ? await burstTwice(sender, options) : null;
  const before = hasClock && unrefused === null ? await waitForWindowTail(sender) : 0;
  const siblingControl = await sendSiblingControl(context);
  const alreadySent = hasClock ? 0 : countRecent(context);
  const beganMs = time.targetMs();
  const rest =
    unrefused ??
    (await exhaustAllowance(sender, {
      max: max - before,
      expected: expected - before,
      burst,
      alreadySent,
      ...(alreadySent > 0 && { trustedFrom: expected - before - alreadySent }),
    }));
  const first: ExhaustResult = { ...rest, admitted: rest.admitted + before, invoked: rest.invoked + before };
  return { first, beganMs, lastedMs: time.targetMs() - beganMs, alreadySent, siblingControl };
}

/**
 * Returns the last refusal. If requests after it may have changed `retry_after`, provokes a new refusal; `undefined` if
 * the target does not refuse again.
 */
async function latestRefusal(
  { tested, recorder }: LimitsProbeContext,
  sender: KeySender,
  refused: readonly Exchange[],
): Promise<Exchange | undefined> {
  const known = refused.at(-1);
  if (known === undefined || statusOf(known) !== 429) return known;
  const mayHaveCounted = ({ sentMs, kind, status }: Sample): boolean =>
    sentMs > known.sentMs && kind !== "health" && status !== null && status !== 429;
  if (!recorder.samplesOf(tested.key.name).some(mayHaveCounted)) return known;
  for (let count = 0; count < maxInvokesToRefusal; count++) {
    const exchange = await invokeUnpaced(sender);
    if (statusOf(exchange) === 429) return exchange;
  }
  return undefined;
}

/** Maximum number of invokes that try to provoke a new refusal. A rolling window can admit some invokes. */
const maxInvokesToRefusal = 3;

const wholeMinuteOptions = (limits: TierLimits, burst = 0): ExhaustOptions => ({
  max: requestsBeyondMinute(limits),
  expected: limits.perMinute,
  burst,
});

/** Returns the tier's burst allowance if a smaller tier was legally granted its own. Otherwise 0. */
const grantedBurst = ({ limits, time }: KeySender, smallerTiers: SmallerTiers): number =>
  time.canAdvance && smallerTiers.some("admitsBurst") && !smallerTiers.some("isOver") ? (limits.burst ?? 0) : 0;

function countRecent({ tested: { key, limits }, time, recorder }: LimitsProbeContext): number {
  const counted = samplesSince(recorder, key, time.now() - minuteMs).filter(isAdmitted);
  return Math.min(limits.perMinute - 1, counted.length);
}

/** Uses up several rate-limit windows in a row. Two values of `Reset` show how long a window is. */
async function exhaustNextWindows(sender: KeySender, burst: number): Promise<void> {
  const options = {
    ...wholeMinuteOptions(sender.limits, burst),
    expected: sender.limits.perMinute - 1,
    trustedFrom: 0,
  };
  for (let windows = 0; windows < maxWindows; windows++) {
    const { end } = await exhaustAllowance(sender, options);
    if (end !== "refused") return;
    const next = await retryWhenDue(sender, await invokeUnpaced(sender));
    const isSoon = next !== null && next.saidSeconds <= tailSeconds && statusOf(next.exchange) === 200;
    if (!isSoon) return;
  }
}

/** Maximum number of windows to use up in a row. One can be too few, because a burst can cross into the next window. */
const maxWindows = 5;

interface Burst extends BurstResult {
  readonly beganMs: number;
  readonly lastedMs: number;
}

/**
 * Repeats the burst at another second of the minute, so that at most one of the two crosses a boundary between fixed
 * windows. If only the second burst exceeds a window's maximum, sends a third burst at yet another second.
 */
async function exhaustAtOtherPhases(sender: KeySender, first: Burst): Promise<void> {
  const { perMinute, burst } = sender.limits;
  const maxOfWindow = perMinute + (burst ?? Infinity);
  const second = await burstAtOtherPhase(sender, first);
  if (second.end !== "refused" || second.admitted <= maxOfWindow || first.admitted > maxOfWindow) return;
  const next = await retryWhenDue(sender, await invokeUnpaced(sender));
  if (next !== null) await burstAtOtherPhase(sender, second);
}

async function burstAtOtherPhase(sender: KeySender, earlier: Burst): Promise<Burst> {
  const { time, limits } = sender;
  await waitIfAllowed(time, marginMs, "a second burst needs a minute of its own");
  const minGapMs = earlier.lastedMs + marginMs;
  const phaseNowMs = (time.targetMs() - earlier.beganMs) % minuteMs;
  const isFar = phaseNowMs >= minGapMs && phaseNowMs <= minuteMs - minGapMs;
  const waitMs = phaseNowMs < minGapMs ? minGapMs - phaseNowMs : minGapMs + minuteMs - phaseNowMs;
  if (!isFar) await waitIfAllowed(time, waitMs, "a second burst must be at another phase of its minute");
  const beganMs = time.targetMs();
  const sent = await sendUntilRefused(sender, wholeMinuteOptions(limits));
  return { ...sent, beganMs, lastedMs: time.targetMs() - beganMs };
}

async function exhaustAfterIdle(sender: KeySender, hasClock: boolean, admittedBefore: number): Promise<void> {
  const idleMs = hasClock ? useExpiryMs : minuteOverMs;
  if (!(await waitIfAllowed(sender.time, idleMs, "an allowance that ended early is exhausted once more"))) return;
  const { end } = await exhaustWithPause(sender, wholeMinuteOptions(sender.limits), admittedBefore);
  if (end === "refused") await retryWhenDue(sender, await invokeUnpaced(sender));
}

/**
 * Extra wait before the second burst, so that it starts at another second of the minute. Therefore, a fixed window
 * cannot end during both bursts.
 */
const secondBurstOffsetMs = 23_000;

/** Sends a burst. After a 429, or failures below the limit, waits and sends a second. Returns `null` if both end so. */
async function burstTwice(sender: KeySender, options: ExhaustOptions): Promise<ExhaustResult | null> {
  for (let count = 0; count < 2; count++) {
    const burst = await exhaustAllowance(sender, options);
    // Failures below the limit also lead to a second burst: requests can fail on a server that has just started.
    if (burst.end === "all sent" || (burst.end === "failing" && burst.admitted >= options.expected)) return burst;
    await sender.time.passTime(useExpiryMs + secondBurstOffsetMs, "the burst must expire");
  }
  return null;
}

/** Invokes to learn when the window ends, and waits until 40 s are left. Returns the admitted invokes in it: 0 or 1. */
async function waitForWindowTail(sender: KeySender): Promise<number> {
  const { perMinute } = sender.limits;
  let sample = await invokeSample(sender);
  if (sample.limit === perMinute && sample.resetAfter !== null && sample.resetAfter < tailSeconds) {
    // Some limiters also count a share of the previous window. Therefore, the probe waits a minute past the reset.
    await sender.time.passTime(sample.resetAfter * 1000 + minuteMs + 2 * toleranceMs + 1000, "a new window must begin");
    sample = await invokeSample(sender);
  }
  const isMinute = sample.limit === perMinute && sample.resetAfter !== null && sample.resetAfter <= 60;
  const leftSeconds = isMinute ? (sample.resetAfter ?? 60) : 60;
  await sender.time.passTime(Math.max(0, leftSeconds - tailSeconds) * 1000, "only the window's tail must be left");
  return Number(isAdmitted(sample));
}
