import { setTimeout as sleep } from "node:timers/promises";

import type { Exchange } from "../evidence/exchange.ts";
import { statusOf } from "../evidence/exchange.ts";
import type { TierLimits } from "../interface/tiers.ts";
import type { Client } from "../run/client.ts";
import { tierProbe, type TierScene } from "../run/probe.ts";
import type { RunTime } from "../run/time.ts";
import { retryAfterSeconds } from "../wire/sampling.ts";
import { isAdmitted, type KeyUse, useOf } from "./limits-history.ts";
import {
  atOnceOf,
  exhaust,
  exhaustPausing,
  type Exhaustion,
  hello,
  invokeSample,
  pausesMs,
  waited,
} from "./limits-traffic.ts";

/** A request sent some time after another was refused. Seconds on the target's clock, at least and at most. */
export interface Later {
  readonly exchange: Exchange;
  /** What the refusal said of the time left. */
  readonly saidSeconds: number;
  readonly atLeastSeconds: number;
  readonly atMostSeconds: number;
}

/** A minute's allowance used up. */
export interface MinuteUsedUp extends KeyUse {
  /** Nothing counted on the key when the sending began. */
  readonly beganFresh: boolean;
  readonly first: Exhaustion;
  /** Sent alone beyond the limit, one after another. */
  readonly refused: readonly Exchange[];
  /** Health reports read meanwhile. */
  readonly health: readonly Exchange[];
  /** Sent well before `retry_after` was over. */
  readonly early: Later | null;
  /** Sent once `retry_after` was over. */
  readonly retried: Later | null;
  /** Usage, read where no invoke was ever refused. */
  readonly other: Exchange | null;
}

/** An hour's allowance used up. */
export interface HourUsedUp extends KeyUse {
  readonly beganFresh: boolean;
  /** Requests admitted until the hour refused, or all were sent. */
  readonly admitted: number;
  readonly end: "refused" | "all sent" | "failing";
  readonly refused: readonly Exchange[];
  readonly retried: Later | null;
}

const hourMs = 3_600_000;
const minuteMs = 60_000;
/** After so long nothing counts against a minute, not even where the minute before weighs in: what refuses then is the hour. */
const twoMinutesMs = 2 * minuteMs + 3000;
/** With a window's tail of so many seconds left, a `retry_after` that tells the window's whole length is seen through. */
const tailSeconds = 40;
const whole = { unpaced: true } as const;

/** However the windows lie, no limiter of the published numbers admits this many at once. */
const beyondMinute = ({ perMinute, burst }: TierLimits): number => 2 * (perMinute + (burst ?? perMinute)) + 2;

type LimitsScene = TierScene<"agents.answering">;

export const minuteUsedUp = tierProbe(
  "a minute's allowance is used up",
  {
    needs: ["agents.answering"],
    requests: ({ limits }) => limits.perMinute + (limits.burst ?? 0) + 4,
    waitSeconds: () => 60.5,
  },
  async (scene): Promise<MinuteUsedUp> => {
    const { client, given, tested, time, target, recorder } = scene;
    const own = client.as(tested.key);
    const agent = given["agents.answering"];
    const { limits } = tested;
    const { beganFresh, idleSinceMs } = await begin(scene);
    if (target.clock !== null && limits.perMinute <= mostAgain) await burstTwice(own, agent, limits, time);
    const before = target.clock === null ? 0 : await enterTail(own, agent, limits, time);
    const plan = { most: beyondMinute(limits), expected: limits.perMinute, atOnce: atOnceOf(limits) };
    const rest = await exhaust(own, agent, { ...plan, most: plan.most - before, expected: plan.expected - before });
    const first = { ...rest, admitted: rest.admitted + before };
    const refused = first.end === "all sent" ? [] : [await own.invoke(agent, hello, whole)];
    const health: Exchange[] = [];
    for (let count = 0; count < 3; count++) health.push(await own.health(agent));
    const early = await sendEarly(own, agent, refused.at(-1), time);
    if (early !== null) refused.push(early.exchange);
    const retried = await sendAfter(own, agent, refused.at(-1), time);
    const isShort = first.end === "refused" && first.admitted < limits.perMinute;
    const isSmall = target.clock !== null && limits.perMinute <= mostAgain;
    if (isShort) await useUpCarefully(own, agent, limits, { time, target, admittedBefore: first.admitted });
    else if (isSmall && retried !== null && statusOf(retried.exchange) === 200)
      await useUpAgain(own, agent, limits, time);
    const other = first.end === "all sent" ? await own.send("GET", "/usage", whole) : null;
    return {
      ...useOf(tested.key, limits, { target, recorder, idleSinceMs }),
      beganFresh,
      first,
      refused,
      health,
      early,
      retried,
      other,
    };
  },
);

/** Larger allowances are not used up a second time only to see how long their windows are. */
const mostAgain = 200;

/**
 * Uses up the next window too: a key that was used before shows its whole allowance only there, and only two resets show
 * how long a window is.
 */
async function useUpAgain(client: Client, agent: string, limits: TierLimits, time: RunTime): Promise<void> {
  const plan = { most: beyondMinute(limits), expected: limits.perMinute - 1, atOnce: atOnceOf(limits) };
  for (let windows = 0; windows < mostWindows; windows++) {
    const { end } = await exhaust(client, agent, plan);
    if (end !== "refused") return;
    const next = await sendAfter(client, agent, await client.invoke(agent, hello, whole), time);
    const isSoon = next !== null && next.saidSeconds <= tailSeconds && statusOf(next.exchange) === 200;
    if (!isSoon) return;
  }
}

/** So many windows in a row tell one that is too short from a burst on either side of a minute's end. */
const mostWindows = 5;

interface Careful {
  readonly time: RunTime;
  readonly target: LimitsScene["target"];
  /** Where the allowance stopped short before. */
  readonly admittedBefore: number;
}

/** Once more on a key of which nothing counts, so that no slot, no burst and no refusal before explains where it stops. */
async function useUpCarefully(
  client: Client,
  agent: string,
  limits: TierLimits,
  { time, target, admittedBefore }: Careful,
): Promise<void> {
  const idleMs = target.clock === null ? minuteMs + 1000 : runOutMs;
  if (!(await waited(time, idleMs, "an allowance that stopped short is used up once more"))) return;
  const plan = { most: beyondMinute(limits), expected: limits.perMinute, atOnce: atOnceOf(limits) };
  const { end } = await exhaustPausing(client, agent, plan, admittedBefore);
  if (end === "refused") await sendAfter(client, agent, await client.invoke(agent, hello, whole), time);
}

/** By no admissible limiter does a request count for longer: some let the window before weigh in. */
const runOutMs = 2 * hourMs + 2000;

/** Bursts lie this far apart, beside whole hours: no boundary of fixed windows can fall into both. */
const phaseMs = 23_000;

/** Uses up a minute at once, twice, on a key of which nothing counts: a rolling limit that is off by one shows in nothing else. */
async function burstTwice(client: Client, agent: string, limits: TierLimits, time: RunTime): Promise<void> {
  const plan = { most: beyondMinute(limits), expected: limits.perMinute, atOnce: atOnceOf(limits) };
  for (let burst = 0; burst < 2; burst++) {
    await exhaust(client, agent, plan);
    await time.wait(runOutMs + phaseMs, "the burst must run out");
  }
}

interface Beginning {
  readonly beganFresh: boolean;
  readonly idleSinceMs: number | null;
}

/** Lets earlier use run out where the target's clock can be moved. */
async function begin({ tested: { key, limits }, time, target, recorder }: LimitsScene): Promise<Beginning> {
  const isUsed = useOf(key, limits, { target, recorder, idleSinceMs: null }).samples.length > 0;
  if (key.fresh && !isUsed) return { beganFresh: true, idleSinceMs: null };
  if (target.clock === null) return { beganFresh: false, idleSinceMs: null };
  await time.wait(runOutMs, "earlier use of the key must run out");
  return { beganFresh: true, idleSinceMs: time.now() };
}

/** Sends the first request of a window, and lets its time pass until only the tail is left. Counts the admitted. */
async function enterTail(client: Client, agent: string, { perMinute }: TierLimits, time: RunTime): Promise<number> {
  let sample = await invokeSample(client, agent);
  let admitted = Number(isAdmitted(sample));
  if (sample.limit === perMinute && sample.resetAfter !== null && sample.resetAfter < tailSeconds) {
    // By then the first request counts in no window any more, not even in one that lets the one before weigh in.
    await time.wait((sample.resetAfter + 1) * 1000 + minuteMs, "a new window must begin");
    sample = await invokeSample(client, agent);
    admitted = Number(isAdmitted(sample));
  }
  const isMinute = sample.limit === perMinute && sample.resetAfter !== null && sample.resetAfter <= 60;
  const leftSeconds = isMinute ? (sample.resetAfter ?? 60) : 60;
  await time.wait(Math.max(0, leftSeconds - tailSeconds) * 1000, "only the window's tail must be left");
  return admitted;
}

async function sendEarly(
  client: Client,
  agent: string,
  refusal: Exchange | undefined,
  time: RunTime,
): Promise<Later | null> {
  const saidSeconds = refusal === undefined || statusOf(refusal) !== 429 ? null : retryAfterSeconds(refusal);
  if (refusal === undefined || saidSeconds === null || saidSeconds < 4) return null;
  const restMs = (saidSeconds - Math.max(3, saidSeconds / 10)) * 1000;
  if (!(await waited(time, restMs, "a request well before `retry_after`"))) return null;
  return later(await client.invoke(agent, hello, whole), refusal, saidSeconds);
}

async function sendAfter(
  client: Client,
  agent: string,
  refusal: Exchange | undefined,
  time: RunTime,
): Promise<Later | null> {
  const saidSeconds = refusal === undefined || statusOf(refusal) !== 429 ? null : retryAfterSeconds(refusal);
  if (refusal === undefined || saidSeconds === null || saidSeconds < 0) return null;
  if (!(await waited(time, (saidSeconds + 0.5) * 1000, "`retry_after` must pass"))) return null;
  let exchange = await client.invoke(agent, hello, whole);
  // Where the wait was a move of the clock, a slot that is given back a moment late is still held.
  if (time.clockAtMostMs() > refusal.clockMs && statusOf(exchange) === 429)
    for (const pauseMs of pausesMs) {
      await sleep(pauseMs);
      exchange = await client.invoke(agent, hello, whole);
      if (statusOf(exchange) !== 429) break;
    }
  return later(exchange, refusal, saidSeconds);
}

function later(exchange: Exchange, refusal: Exchange, saidSeconds: number): Later {
  const movedMs = exchange.clockMs - refusal.clockMs;
  const refusedMs = refusal.answer.kind === "answered" ? refusal.answer.headMs : refusal.answer.endMs;
  const headMs = exchange.answer.kind === "answered" ? exchange.answer.headMs : exchange.answer.endMs;
  return {
    exchange,
    saidSeconds,
    // A clock that the run moves may stand still between the moves.
    atLeastSeconds: Math.max(movedMs, movedMs === 0 ? exchange.sentMs - refusedMs : 0) / 1000,
    atMostSeconds: (movedMs + headMs - refusal.sentMs) / 1000,
  };
}

export const hourUsedUp = tierProbe(
  "an hour's allowance is used up",
  {
    needs: ["agents.answering"],
    requests: ({ limits }) => limits.perHour + 4,
    waitSeconds: ({ limits }) => Math.ceil(limits.perHour / limits.perMinute) * 61 + 61,
  },
  async (scene): Promise<HourUsedUp> => {
    const { client, given, tested, time, target, recorder } = scene;
    const own = client.as(tested.key);
    const agent = given["agents.answering"];
    const { beganFresh, idleSinceMs } = await begin(scene);
    const pauseMs = target.clock === null ? minuteMs + 1000 : twoMinutesMs;
    const { admitted, end } = await useUpHour(own, agent, tested.limits, {
      time,
      pauseMs,
      before: 0,
      admittedBefore: null,
    });
    const refused = end === "all sent" ? [] : [await own.invoke(agent, hello, whole)];
    const retried = target.clock === null ? null : await sendAfter(own, agent, refused.at(-1), time);
    const isShort = target.clock !== null && end === "refused" && admitted < tested.limits.perHour;
    const isSmall = tested.limits.perHour <= mostAgain;
    if (isShort) await time.wait(runOutMs, "earlier use of the key must run out");
    if (isShort || (isSmall && retried !== null && statusOf(retried.exchange) === 200)) {
      const again = isShort ? { before: 0, admittedBefore: admitted } : { before: 1, admittedBefore: null };
      const next = await useUpHour(own, agent, tested.limits, { time, pauseMs, ...again });
      // Only two resets show how long a window is, and only what is admitted then shows that tokens are left.
      if (next.end === "refused") await sendAfter(own, agent, await own.invoke(agent, hello, whole), time);
    }
    return {
      ...useOf(tested.key, tested.limits, { target, recorder, idleSinceMs }),
      beganFresh,
      admitted,
      end,
      refused,
      retried,
    };
  },
);

interface HourPlan {
  readonly time: RunTime;
  /** Between two minutes' worth. */
  readonly pauseMs: number;
  /** Requests of this hour that were admitted already. */
  readonly before: number;
  /** Where an hour stopped short before, so that this one comes to a real pause there. */
  readonly admittedBefore: number | null;
}

/** Minute by minute, never more than the minute's allowance at once, so that what refuses in the end is the hour. */
async function useUpHour(
  client: Client,
  agent: string,
  limits: TierLimits,
  { time, pauseMs, before, admittedBefore }: HourPlan,
): Promise<{ readonly admitted: number; readonly end: HourUsedUp["end"] }> {
  const { perHour, perMinute } = limits;
  const most = 2 * perHour + perMinute + 1;
  let admitted = before;
  let stopsShort = false;
  for (let idleMinutes = 0; admitted < most && idleMinutes < 2;) {
    // The request that opened the window was sent in the same minute.
    const share = Math.min(admitted === before ? perMinute - before : perMinute, most - admitted);
    // A minute that stops short is waited for once; the next ones are believed.
    const expected = stopsShort ? 0 : Math.min(share, Math.max(0, perHour - admitted));
    const plan = { most: share, expected, atOnce: atOnceOf(limits) };
    const pauseAfter = admittedBefore === null ? null : admittedBefore - admitted;
    const round = await exhaustPausing(client, agent, plan, pauseAfter);
    admitted += round.admitted;
    stopsShort ||= round.end === "refused" && round.admitted < share;
    if (round.end === "failing") return { admitted, end: "failing" };
    if (round.end === "refused" && admitted >= perHour) return { admitted, end: "refused" };
    idleMinutes = round.admitted === 0 ? idleMinutes + 1 : 0;
    if (admitted < most && idleMinutes < 2) await time.wait(pauseMs, "the next minute of the hour");
  }
  return { admitted, end: admitted < most ? "refused" : "all sent" };
}
