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

/** A minute's allowance used up. */
export interface MinuteExhausted extends KeyHistory {
  /** Nothing counted on the key when the sending began. */
  readonly beganFresh: boolean;
  readonly first: ExhaustResult;
  /** Sent alone beyond the limit, one after another. */
  readonly refused: readonly Exchange[];
  /** Health reports read meanwhile. */
  readonly health: readonly Exchange[];
  /** Sent well before `retry_after` was over. */
  readonly early: TimedRetry | null;
  /** Sent once `retry_after` was over. */
  readonly retried: TimedRetry | null;
  /** Asked once the allowance was used up. */
  readonly twin: SiblingResult;
  /** Usage, read where no invoke was ever refused. */
  readonly other: Exchange | null;
}

/** With a window's tail of so many seconds left, a `retry_after` that tells the window's whole length is seen through. */
const tailSeconds = 40;
/** What may be off between two bursts: the clock, at either of them, and what it takes to send. */
const marginMs = 2 * toleranceMs + 200;
/** However the windows lie, no limiter of the published numbers admits this many at once. */
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
  async (scene): Promise<MinuteExhausted> => {
    const { client, given, tested, time, target, recorder, discovery } = scene;
    const readsCount = doReadsCount(discovery);
    const own = client.as(tested.key);
    const agent = given["agents.answering"];
    const { limits } = tested;
    const { beganFresh, idleSinceMs } = await expireEarlierUse(scene);
    if (target.clock !== null && limits.perMinute <= maxRepeatedAllowance)
      await burstTwice(own, agent, limits, { time, readsCount });
    const before = target.clock === null ? 0 : await enterTail(own, agent, limits, time);
    const twinBefore = await sendSiblingControl(scene);
    const plan = planOf(limits, readsCount);
    const filled = target.clock === null ? countedLately(scene) : 0;
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
    const askedTwin = await askSibling(scene, refused, twinBefore);
    const health: Exchange[] = [];
    const healths = hasFewRequests(target) ? 1 : 3;
    for (let count = 0; count < healths; count++) health.push(await own.health(agent));
    if (first.end === "refused") await requestOtherEndpoints(own, agent, target.clock !== null);
    const early = await retryEarly(own, agent, refused.at(-1), time);
    if (early !== null) refused.push(early.exchange);
    const retried = await retryWhenDue(own, agent, refused.at(-1), time);
    const twin = await askSiblingAgain(scene, askedTwin, idleSinceMs);
    // On a real clock another minute would pass; what the run sent earlier may have used up the rest of this one.
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

/** To use up a minute of which nothing was used. */
const planOf = (limits: TierLimits, readsCount: boolean): ExhaustOptions => ({
  most: beyondMinute(limits),
  expected: limits.perMinute,
  atOnce: concurrencyFor(limits),
  readsCount,
  filled: 0,
  believesToldFrom: null,
});

/** How many requests of the last minute may count on the key. */
function countedLately({ tested: { key, limits }, time, recorder }: LimitsProbeContext): number {
  const sinceMs = time.now() - minuteMs;
  const counted = recorder.samplesOf(key.name).filter((each) => each.kind !== "health" && isAdmitted(each));
  return Math.min(limits.perMinute - 1, counted.filter(({ headMs }) => headMs > sinceMs).length);
}

/**
 * Uses up the next window too: a key that was used before shows its whole allowance only there, and only two resets show
 * how long a window is.
 */
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

/** What was sent at once, and when, on the target's clock. */
interface Burst extends BurstResult {
  readonly beganMs: number;
  readonly lastedMs: number;
}

interface Sending {
  readonly time: RunClock;
  /** Reading usage draws on the allowance. */
  readonly readsCount: boolean;
}

interface Elsewhere extends Sending {
  readonly burst: Burst;
}

/**
 * A burst of more than a minute's number may have lain on either side of a minute's end. A second one, at another time within a minute, cannot
 * have done so, too: then the most that any minute admits is told from one more. Where the time for that is not left, at a time that is not far
 * away, it cannot have been cut in the same place. Where the first was small because of what the run had sent before, and the second is not, a
 * third one is set against that.
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
  // The request that opened the window must be out of a minute's reach, wherever windows begin with a request.
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

/** So many windows in a row tell one that is too short from a burst on either side of a minute's end. */
const mostWindows = 5;

interface Careful extends Sending {
  readonly target: LimitsProbeContext["target"];
  /** Where the allowance stopped short before. */
  readonly admittedBefore: number;
}

/** Once more on a key of which nothing counts, so that no slot, no burst and no refusal before explains where it stops. */
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

/** Bursts lie this far apart, beside whole hours: no boundary of fixed windows can fall into both. */
const phaseMs = 23_000;

/** Uses up a minute at once, twice, on a key of which nothing counts: a rolling limit that is off by one shows in nothing else. */
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

/** Sends the first request of a window, and lets its time pass until only the tail is left. Counts the admitted. */
async function enterTail(client: Client, agent: string, { perMinute }: TierLimits, time: RunClock): Promise<number> {
  let sample = await invokeSample(client, agent);
  let admitted = Number(isAdmitted(sample));
  if (sample.limit === perMinute && sample.resetAfter !== null && sample.resetAfter < tailSeconds) {
    // By then the first request counts in no window any more, not even in one that lets the one before weigh in, or that a refusal at either
    // end of what is tolerated prolongs: else a minute that is too short goes unseen where the first request was the last of its window.
    await time.passTime(sample.resetAfter * 1000 + minuteMs + 2 * toleranceMs + 1000, "a new window must begin");
    sample = await invokeSample(client, agent);
    admitted = Number(isAdmitted(sample));
  }
  const isMinute = sample.limit === perMinute && sample.resetAfter !== null && sample.resetAfter <= 60;
  const leftSeconds = isMinute ? (sample.resetAfter ?? 60) : 60;
  await time.passTime(Math.max(0, leftSeconds - tailSeconds) * 1000, "only the window's tail must be left");
  return admitted;
}
