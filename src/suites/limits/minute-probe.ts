import { minuteMs } from "../../base/duration.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { minuteOverMs, toleranceMs } from "../../rules/limits/key-history.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import { requestInState } from "../coverage/probe.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { tierProbe } from "../../run/probe.ts";
import { endpointNames } from "../../spec/endpoints.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import {
  type BurstResult,
  exhaust,
  type ExhaustOptions,
  type ExhaustResult,
  exhaustWithPause,
  invokeSample,
  invokeUnpaced,
  type KeySender,
  maxRepeatedAllowance,
  requestOtherEndpoints,
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
import { sendSiblingControl, type SiblingKeyResult, useSibling, useSiblingAgain } from "./sibling-key.ts";
import { amongTiers, maxBeyondLimit, type SmallerTiers } from "./smaller-tiers.ts";
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

/** Evidence of a key whose limit per minute was used up. */
export interface MinuteExhausted extends RunKeyHistory {
  readonly beganFresh: boolean;
  readonly first: ExhaustResult;
  /** Invokes sent one by one after the first refusal. */
  readonly refused: readonly Exchange[];
  /** Health reports read while the minute's limit was used up. */
  readonly health: readonly Exchange[];
  readonly early: TimedRetry | null;
  readonly retried: TimedRetry | null;
  /** Result of invokes with another key of the same tier, while the first key was refused. */
  readonly twin: SiblingKeyResult;
  /** A `GET /usage`, sent only if no invoke was refused. */
  readonly other: Exchange | null;
}

/**
 * Seconds left in the window when the burst starts. Well below 60, so that a `retry_after` that always names the whole
 * window is detected.
 */
const tailSeconds = 40;
/** Minimum time between two bursts: twice the clock tolerance, and the time to send the requests. */
export const marginMs = 2 * toleranceMs + 200;
/** Number of requests that no limiter of the document can admit at once, wherever its windows begin. */
export const beyondMinute = ({ perMinute, burst }: TierLimits): number => 2 * (perMinute + (burst ?? perMinute)) + 2;

export const minuteExhausted = tierProbe(
  "a minute's allowance is used up",
  {
    needs: ["agents.answering"],
    requests: ({ limits }) => limits.perMinute + (limits.burst ?? 0) + 4 + endpointNames.length,
    executions: () => 8,
    window: ({ limits }) => limits.perMinute,
    usesUp: "minute used up",
    waitSeconds: () => 60.5,
    optionalWaitSeconds: marginMs / 1000,
  },
  (context) => amongTiers(context, "minute", (smallerTiers) => useUpMinute(context, smallerTiers)),
);

async function useUpMinute(context: LimitsProbeContext, smallerTiers: SmallerTiers): Promise<MinuteExhausted> {
  const { tested, time, target, recorder, discovery } = context;
  const { limits } = tested;
  const sender = senderOf(context);
  const { beganFresh, idleSinceMs } = await expireEarlierUse(context);
  const hasClock = target.clock !== null;
  const isSmall = hasClock && limits.perMinute <= maxRepeatedAllowance;
  const { first, lastedMs, beganMs, alreadySent, siblingControl } = await useUpFirst(sender, context, smallerTiers);
  const refused = first.end === "all sent" ? [] : [await invokeUnpaced(sender)];
  const siblingUse = await useSibling(context, refused, siblingControl);
  const health: Exchange[] = [];
  const healthReads = hasFewRequests(target) ? 1 : 3;
  for (let count = 0; count < healthReads; count++) health.push(await sender.client.health(sender.agent));
  const refusedAtMs = time.targetMs();
  const isOver = !hasClock && first.admitted + alreadySent > limits.perMinute + (limits.burst ?? Infinity);
  if (first.end === "refused" && !(isOver && hasFewRequests(target))) {
    await requestOtherEndpoints(sender, hasClock);
    await requestInState(context, { key: tested.key, kind: tested.tier, state: "minute used up" });
  }
  const latest = await latestRefusal(context, sender, refused);
  if (latest !== undefined && !refused.includes(latest)) refused.push(latest);
  const early = await retryEarly(sender, latest);
  if (early !== null) refused.push(early.exchange);
  const last = early?.exchange ?? latest;
  // If too many requests were admitted, and some of them before the burst, the retry begins a second burst. This
  // burst lies at another offset in the minute, so it cannot cross the same boundary of two windows.
  const untilOtherPhaseMs = pastNearReset(minuteMs + marginMs - (time.targetMs() - refusedAtMs), last, {
    nowMs: time.now(),
    perMinute: limits.perMinute,
  });
  const isAtOtherPhase = isOver && alreadySent > 0 && time.canWait(untilOtherPhaseMs);
  const retried = await retryWhenDue(sender, last, isAtOtherPhase ? untilOtherPhaseMs : 0);
  const twin = await useSiblingAgain(context, siblingUse, idleSinceMs);
  const history = () => keyHistoryOf(tested.key, limits, { target, recorder, discovery, idleSinceMs });
  // Without a test clock, requests of earlier probes may count in this minute. If they explain the early refusal,
  // nothing needs to be sent again.
  const isShort =
    first.end === "refused" &&
    first.admitted + first.failed < limits.perMinute &&
    (hasClock || !minuteReached(history()));
  const isProven = hasClock && smallerTiers.some("isOver");
  const admitsBurst = first.admitted > limits.perMinute;
  // If a smaller tier admits a burst on top of its limit as well, this tier's burst needs no second measurement.
  const isExplained =
    hasClock &&
    smallerTiers.some("admitsBurst") &&
    first.admitted <= limits.perMinute + (limits.burst ?? limits.perMinute);
  if (isShort && !(hasClock && smallerTiers.some("isShort"))) await exhaustCarefully(sender, hasClock, first.admitted);
  else if (!isShort && isSmall && !isProven && retried !== null && statusOf(retried.exchange) === 200)
    await exhaustAgain(sender);
  else if (!isShort && isAtOtherPhase) await sendUntilRefused(sender, wholeMinute(limits));
  else if (!isShort && !isSmall && first.end === "refused" && admitsBurst && !isExplained)
    await exhaustAtOtherPhases(sender, { ...first, beganMs, lastedMs });
  const other = first.end === "all sent" ? await sender.client.send("GET", "/usage", unpaced) : null;
  const use = history();
  const isBeyond = maxAdmittedWithin(use.samples, minuteMs) > limits.perMinute;
  const isRefuted = (): boolean => judgeExhaustedWindow(use, "minute", false).kind === "breach";
  smallerTiers.report({ isShort, admitsBurst, isOver: isBeyond && (provesExcess(use, "minute") || isRefuted()) });
  return { ...use, beganFresh, first, refused, health, early, retried, twin, other };
}

/** Uses up the minute for the first time: a small one at the end of a window, after two bursts. */
async function useUpFirst(sender: KeySender, context: LimitsProbeContext, smallerTiers: SmallerTiers) {
  const { limits, time } = sender;
  const { perMinute } = limits;
  const hasClock = context.target.clock !== null;
  // If a smaller tier has proved a breach, a few requests beyond the limit are enough.
  const isProven = hasClock && smallerTiers.some("isOver");
  const options = { ...wholeMinute(limits), ...(isProven && { max: perMinute + maxBeyondLimit }) };
  const { max, expected } = options;
  const unrefused = hasClock && perMinute <= maxRepeatedAllowance ? await burstTwice(sender, options) : null;
  const before = hasClock && unrefused === null ? await enterTail(sender) : 0;
  const siblingControl = await sendSiblingControl(context);
  const alreadySent = hasClock ? 0 : countRecent(context);
  const beganMs = time.targetMs();
  const rest =
    unrefused ??
    (await exhaust(sender, {
      max: max - before,
      expected: expected - before,
      alreadySent,
      ...(alreadySent > 0 && { trustedFrom: expected - before - alreadySent }),
    }));
  const first: ExhaustResult = { ...rest, admitted: rest.admitted + before, invoked: rest.invoked + before };
  return { first, beganMs, lastedMs: time.targetMs() - beganMs, alreadySent, siblingControl };
}

/**
 * Returns the refusal whose `retry_after` holds now. A later request of the run, even one with invalid input, may have
 * used the allowance that the last refusal announced. The function then sends requests until one is refused again.
 * Returns `undefined` if there is no refusal.
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
  for (let count = 0; count < maxNewRefusals; count++) {
    const exchange = await invokeUnpaced(sender);
    if (statusOf(exchange) === 429) return exchange;
  }
  return undefined;
}

/** Maximum number of requests to get a new refusal. More than one is needed only if a request became free just before the first. */
const maxNewRefusals = 3;

/** Options to use up the allowance of one whole minute. */
const wholeMinute = (limits: TierLimits): ExhaustOptions => ({
  max: beyondMinute(limits),
  expected: limits.perMinute,
});

/** Number of the key's requests in the last minute that may still count; at most the limit minus one. */
function countRecent({ tested: { key, limits }, time, recorder }: LimitsProbeContext): number {
  const sinceMs = time.now() - minuteMs;
  const counted = recorder.samplesOf(key.name).filter((each) => each.kind !== "health" && isAdmitted(each));
  return Math.min(limits.perMinute - 1, counted.filter(({ headMs }) => headMs > sinceMs).length);
}

/**
 * Uses up the next windows as well. Earlier requests may have used part of the first window's allowance. Also, two
 * values of `Reset` show the length of a window.
 */
async function exhaustAgain(sender: KeySender): Promise<void> {
  const options = { ...wholeMinute(sender.limits), expected: sender.limits.perMinute - 1, trustedFrom: 0 };
  for (let windows = 0; windows < maxWindows; windows++) {
    const { end } = await exhaust(sender, options);
    if (end !== "refused") return;
    const next = await retryWhenDue(sender, await invokeUnpaced(sender));
    const isSoon = next !== null && next.saidSeconds <= tailSeconds && statusOf(next.exchange) === 200;
    if (!isSoon) return;
  }
}

/**
 * Maximum number of windows to use up in a row. With fewer windows, a burst across the boundary of two windows looks
 * like a window that is too short.
 */
const maxWindows = 5;

/** A burst, with its start and duration by the target's clock. */
interface Burst extends BurstResult {
  readonly beganMs: number;
  readonly lastedMs: number;
}

/**
 * Sends a second burst at another offset within the minute. The first burst exceeded the minute's limit, perhaps only
 * because it crossed the boundary of two fixed windows. The second cannot cross that boundary.
 *
 * Requests from before the burst may have kept the first burst below the limit plus the burst allowance. If only the
 * second burst exceeds that sum, a third burst is compared with it.
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
  // On some servers a window starts at its first request. After this wait, the window that was open has ended.
  await waitIfAllowed(time, marginMs, "a second burst needs a minute of its own");
  const minGapMs = earlier.lastedMs + marginMs;
  const phaseNowMs = (time.targetMs() - earlier.beganMs) % minuteMs;
  const isFar = phaseNowMs >= minGapMs && phaseNowMs <= minuteMs - minGapMs;
  const waitMs = phaseNowMs < minGapMs ? minGapMs - phaseNowMs : minGapMs + minuteMs - phaseNowMs;
  if (!isFar) await waitIfAllowed(time, waitMs, "a second burst must be at another phase of its minute");
  const beganMs = time.targetMs();
  const sent = await sendUntilRefused(sender, wholeMinute(limits));
  return { ...sent, beganMs, lastedMs: time.targetMs() - beganMs };
}

/**
 * Uses up the minute's limit once more, after all earlier requests have expired. If a request is refused early again,
 * neither a concurrency slot nor earlier use is the reason.
 */
async function exhaustCarefully(sender: KeySender, hasClock: boolean, admittedBefore: number): Promise<void> {
  const idleMs = hasClock ? useExpiryMs : minuteOverMs;
  if (!(await waitIfAllowed(sender.time, idleMs, "an allowance that ended early is exhausted once more"))) return;
  const { end } = await exhaustWithPause(sender, wholeMinute(sender.limits), admittedBefore);
  if (end === "refused") await retryWhenDue(sender, await invokeUnpaced(sender));
}

/** Offset of the second burst within the minute. Large enough that no boundary of fixed windows lies in both bursts. */
const phaseMs = 23_000;

/**
 * Uses up a whole minute's limit in one burst, twice, each time with no earlier request that still counts. Only such a
 * burst shows whether a rolling limit is off by one.
 * @returns the first burst if no request of it was refused, which ends the bursts; otherwise `null`
 */
async function burstTwice(sender: KeySender, options: ExhaustOptions): Promise<ExhaustResult | null> {
  for (let count = 0; count < 2; count++) {
    const burst = await exhaust(sender, options);
    if (burst.end === "all sent") return burst;
    await sender.time.passTime(useExpiryMs + phaseMs, "the burst must expire");
  }
  return null;
}

/**
 * Sends the first request of a window, then waits until `tailSeconds` of the window are left. Returns the number of
 * admitted requests, 0 or 1.
 */
async function enterTail(sender: KeySender): Promise<number> {
  const { perMinute } = sender.limits;
  let sample = await invokeSample(sender);
  if (sample.limit === perMinute && sample.resetAfter !== null && sample.resetAfter < tailSeconds) {
    // After this wait the first request counts in no window, even if the limiter also counts the previous window or its
    // clock is wrong. If the request still counted, the probe might miss a window that is too short.
    await sender.time.passTime(sample.resetAfter * 1000 + minuteMs + 2 * toleranceMs + 1000, "a new window must begin");
    sample = await invokeSample(sender);
  }
  const isMinute = sample.limit === perMinute && sample.resetAfter !== null && sample.resetAfter <= 60;
  const leftSeconds = isMinute ? (sample.resetAfter ?? 60) : 60;
  await sender.time.passTime(Math.max(0, leftSeconds - tailSeconds) * 1000, "only the window's tail must be left");
  return Number(isAdmitted(sample));
}
