import { minuteMs } from "../../base/duration.ts";
import { isAdmitted } from "../../rules/limits/sample.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { toleranceMs, minuteOverMs } from "../../rules/limits/key-history.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { Client } from "../../run/send/client.ts";
import { tierProbe } from "../../run/probe.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { doReadsCount, type KeyHistory, minuteReached, keyHistoryOf } from "./key-history.ts";
import {
  expireEarlierUse,
  type TimedRetry,
  type LimitsProbeContext,
  useExpiryMs,
  retryWhenDue,
  retryEarly,
  unpacedRequest,
} from "./timed-retry.ts";
import { askSibling, askSiblingAgain, sendSiblingControl, type SiblingResult } from "./sibling-key.ts";
import { requestOtherEndpoints } from "./other-endpoints.ts";
import {
  concurrencyFor,
  exhaust,
  exhaustWithPause,
  type ExhaustResult,
  hello,
  invokeSample,
  maxRepeatedAllowance,
  type ExhaustOptions,
  sendUntilRefused,
  type BurstResult,
  burstOptions,
  waitIfAllowed,
} from "./exhaust.ts";

/** An exhausted minute. */
export interface MinuteExhausted extends KeyHistory {
  /** Whether no earlier use of the key counted at the start. */
  readonly beganFresh: boolean;
  readonly first: ExhaustResult;
  /** Single requests beyond the limit. */
  readonly refused: readonly Exchange[];
  /** Health, read while the minute was exhausted. */
  readonly health: readonly Exchange[];
  /** Sent well before `retry_after` was over. */
  readonly early: TimedRetry | null;
  /** Sent once `retry_after` was over. */
  readonly retried: TimedRetry | null;
  /** Used once the allowance was exhausted. */
  readonly twin: SiblingResult;
  /** A read of usage, sent if no invoke was refused. */
  readonly other: Exchange | null;
}

/** Time left in the window when the burst starts. It is well below a minute, so that a `retry_after` that is always the whole window is detected. */
const tailSeconds = 40;
/** Uncertainty between two bursts: the clock tolerance of both, and the time to send. */
const marginMs = 2 * toleranceMs + 200;
/** More requests than any limiter with the published numbers admits at once, wherever its windows begin. */
const beyondMinute = ({ perMinute, burst }: TierLimits): number => 2 * (perMinute + (burst ?? perMinute)) + 2;

export const minuteExhausted = tierProbe(
  "a minute's allowance is used up",
  {
    needs: ["agents.answering"],
    requests: ({ limits }) => limits.perMinute + (limits.burst ?? 0) + 4,
    executions: () => 8,
    window: ({ limits }) => limits.perMinute,
    waitSeconds: () => 60.5,
    optionalWaitSeconds: marginMs / 1000,
  },
  async (context): Promise<MinuteExhausted> => {
    const { client, given, tested, time, target, recorder, discovery } = context;
    const readsCount = doReadsCount(discovery);
    const own = client.as(tested.key);
    const agent = given["agents.answering"];
    const { limits } = tested;
    const { beganFresh, idleSinceMs } = await expireEarlierUse(context);
    if (target.clock !== null && limits.perMinute <= maxRepeatedAllowance)
      await burstTwice(own, agent, limits, { time, readsCount });
    const before = target.clock === null ? 0 : await enterTail(own, agent, limits, time);
    const twinBefore = await sendSiblingControl(context);
    const plan = planOf(limits, readsCount);
    const filled = target.clock === null ? countedLately(context) : 0;
    const expected = plan.expected - before;
    const beganMs = time.targetMs();
    const rest = await exhaust(own, agent, {
      ...plan,
      most: plan.most - before,
      expected,
      filled,
      believesToldFrom: filled === 0 ? null : expected - filled,
    });
    const burst = { beganMs, lastedMs: time.targetMs() - beganMs };
    const first = { ...rest, admitted: rest.admitted + before, invoked: rest.invoked + before };
    const refused = first.end === "all sent" ? [] : [await own.invoke(agent, hello, unpacedRequest)];
    const askedTwin = await askSibling(context, refused, twinBefore);
    const health: Exchange[] = [];
    const healths = hasFewRequests(target) ? 1 : 3;
    for (let count = 0; count < healths; count++) health.push(await own.health(agent));
    if (first.end === "refused") await requestOtherEndpoints(own, agent, target.clock !== null);
    const early = await retryEarly(own, agent, refused.at(-1), time);
    if (early !== null) refused.push(early.exchange);
    const retried = await retryWhenDue(own, agent, refused.at(-1), time);
    const twin = await askSiblingAgain(context, askedTwin, idleSinceMs);
    // On a real clock, requests that the run sent earlier may count in this minute. If so, the limit was reached and
    // another minute would be wasted.
    const isReached =
      target.clock === null &&
      minuteReached(keyHistoryOf(tested.key, limits, { target, recorder, look: discovery, idleSinceMs }));
    const isShort = first.end === "refused" && first.admitted < limits.perMinute && !isReached;
    const isSmall = target.clock !== null && limits.perMinute <= maxRepeatedAllowance;
    if (isShort) await useUpCarefully(own, agent, limits, { time, target, readsCount, admittedBefore: first.admitted });
    else if (isSmall && retried !== null && statusOf(retried.exchange) === 200)
      await useUpAgain(own, agent, limits, { time, readsCount });
    else if (!isSmall && first.end === "refused" && first.admitted > limits.perMinute)
      await useUpElsewhere(own, agent, limits, { time, readsCount, burst: { ...first, ...burst } });
    const other = first.end === "all sent" ? await own.send("GET", "/usage", unpacedRequest) : null;
    return {
      ...keyHistoryOf(tested.key, limits, { target, recorder, look: discovery, idleSinceMs }),
      beganFresh,
      first,
      refused,
      health,
      early,
      retried,
      twin,
      other,
    };
  },
);

/** Options to exhaust a whole minute. */
const planOf = (limits: TierLimits, readsCount: boolean): ExhaustOptions => ({
  most: beyondMinute(limits),
  expected: limits.perMinute,
  atOnce: concurrencyFor(limits),
  readsCount,
  filled: 0,
  believesToldFrom: null,
});

/** Number of requests of the last minute that may still count. */
function countedLately({ tested: { key, limits }, time, recorder }: LimitsProbeContext): number {
  const sinceMs = time.now() - minuteMs;
  const counted = recorder.samplesOf(key.name).filter((each) => each.kind !== "health" && isAdmitted(each));
  return Math.min(limits.perMinute - 1, counted.filter(({ headMs }) => headMs > sinceMs).length);
}

/** Exhausts the next window too. Only there a key that was used before has its whole allowance, and only two resets show how long a window is. */
async function useUpAgain(
  client: Client,
  agent: string,
  limits: TierLimits,
  { time, readsCount }: Sending,
): Promise<void> {
  const plan = { ...planOf(limits, readsCount), expected: limits.perMinute - 1, believesToldFrom: 0 };
  for (let windows = 0; windows < mostWindows; windows++) {
    const { end } = await exhaust(client, agent, plan);
    if (end !== "refused") return;
    const next = await retryWhenDue(client, agent, await client.invoke(agent, hello, unpacedRequest), time);
    const isSoon = next !== null && next.saidSeconds <= tailSeconds && statusOf(next.exchange) === 200;
    if (!isSoon) return;
  }
}

/** A burst, with its time by the target's clock. */
interface Burst extends BurstResult {
  readonly beganMs: number;
  readonly lastedMs: number;
}

interface Sending {
  readonly time: RunClock;
  /** Whether reading usage counts against the allowance. */
  readonly readsCount: boolean;
}

interface Elsewhere extends Sending {
  readonly burst: Burst;
}

/**
 * Sends a second burst if the first one exceeded the minute's limit: the first may have crossed the boundary of two fixed
 * windows. A second burst at another phase of the minute cannot cross it too. If the second exceeds the limit and the
 * first did not, because of earlier use, a third burst is compared with the second.
 */
async function useUpElsewhere(
  client: Client,
  agent: string,
  limits: TierLimits,
  { time, readsCount, burst }: Elsewhere,
): Promise<void> {
  const mostOfWindow = limits.perMinute + (limits.burst ?? Infinity);
  const second = await burstElsewhere(client, agent, limits, { time, readsCount, burst });
  if (second.end !== "refused" || second.admitted <= mostOfWindow || burst.admitted > mostOfWindow) return;
  const next = await retryWhenDue(client, agent, await client.invoke(agent, hello, unpacedRequest), time);
  if (next !== null) await burstElsewhere(client, agent, limits, { time, readsCount, burst: second });
}

async function burstElsewhere(
  client: Client,
  agent: string,
  limits: TierLimits,
  { time, readsCount, burst }: Elsewhere,
): Promise<Burst> {
  // The request that opened the window must be more than a minute old, in case windows start at a request.
  await waitIfAllowed(time, marginMs, "a second burst must find a minute of its own");
  const farMs = burst.lastedMs + marginMs;
  const phaseNowMs = (time.targetMs() - burst.beganMs) % minuteMs;
  const isFar = phaseNowMs >= farMs && phaseNowMs <= minuteMs - farMs;
  const restMs = phaseNowMs < farMs ? farMs - phaseNowMs : farMs + minuteMs - phaseNowMs;
  if (!isFar) await waitIfAllowed(time, restMs, "a second burst must lie elsewhere in its minute");
  const beganMs = time.targetMs();
  const sent = await sendUntilRefused(client, agent, burstOptions(planOf(limits, readsCount)));
  return { ...sent, beganMs, lastedMs: time.targetMs() - beganMs };
}

/** Maximum number of windows to exhaust in a row. They distinguish a window that is too short from a burst across a boundary. */
const mostWindows = 5;

interface Careful extends Sending {
  readonly target: LimitsProbeContext["target"];
  /** Number of requests after which the first attempt was refused. */
  readonly admittedBefore: number;
}

/** Exhausts the minute once more, after earlier use has expired, so that no slot, burst or earlier refusal explains the early end. */
async function useUpCarefully(
  client: Client,
  agent: string,
  limits: TierLimits,
  { time, target, readsCount, admittedBefore }: Careful,
): Promise<void> {
  const idleMs = target.clock === null ? minuteOverMs : useExpiryMs;
  if (!(await waitIfAllowed(time, idleMs, "an allowance that stopped short is used up once more"))) return;
  const plan = planOf(limits, readsCount);
  const { end } = await exhaustWithPause(client, agent, plan, admittedBefore);
  if (end === "refused") await retryWhenDue(client, agent, await client.invoke(agent, hello, unpacedRequest), time);
}

/** Offset of the second burst within the minute, so that no boundary of fixed windows lies in both bursts. */
const phaseMs = 23_000;

/** Exhausts a minute at once, twice, with no earlier use: nothing else detects a rolling limit that is off by one. */
async function burstTwice(
  client: Client,
  agent: string,
  limits: TierLimits,
  { time, readsCount }: Sending,
): Promise<void> {
  const plan = planOf(limits, readsCount);
  for (let burst = 0; burst < 2; burst++) {
    await exhaust(client, agent, plan);
    await time.passTime(useExpiryMs + phaseMs, "the burst must run out");
  }
}

/** Sends the first request of a window and waits until only its tail is left. Returns the number of admitted requests. */
async function enterTail(client: Client, agent: string, { perMinute }: TierLimits, time: RunClock): Promise<number> {
  let sample = await invokeSample(client, agent);
  let admitted = Number(isAdmitted(sample));
  if (sample.limit === perMinute && sample.resetAfter !== null && sample.resetAfter < tailSeconds) {
    // After this wait the first request counts in no window, even if the limiter weighs in the window before or its clock
    // is off. Otherwise a minute that is too short may go undetected.
    await time.passTime(sample.resetAfter * 1000 + minuteMs + 2 * toleranceMs + 1000, "a new window must begin");
    sample = await invokeSample(client, agent);
    admitted = Number(isAdmitted(sample));
  }
  const isMinute = sample.limit === perMinute && sample.resetAfter !== null && sample.resetAfter <= 60;
  const leftSeconds = isMinute ? (sample.resetAfter ?? 60) : 60;
  await time.passTime(Math.max(0, leftSeconds - tailSeconds) * 1000, "only the window's tail must be left");
  return admitted;
}
