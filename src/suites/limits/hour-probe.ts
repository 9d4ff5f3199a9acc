import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { minuteMs } from "../../base/duration.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { Client } from "../../run/send/client.ts";
import { tierProbe } from "../../run/probe.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { isSuccess } from "../shared/response.ts";
import { doReadsCount, type KeyHistory, keyHistoryOf } from "./key-history.ts";
import { requestOtherEndpoints } from "./other-endpoints.ts";
import { expireEarlierUse, type TimedRetry, useExpiryMs, retryWhenDue, unpacedRequest } from "./timed-retry.ts";
import { askSibling, askSiblingAgain, sendSiblingControl, type SiblingResult } from "./sibling-key.ts";
import { concurrencyFor, exhaustWithPause, hello, maxRepeatedAllowance } from "./exhaust.ts";

/** An exhausted hour. */
export interface HourExhausted extends KeyHistory {
  readonly beganFresh: boolean;
  /** Requests admitted until the hour's limit refused one, or all were sent. */
  readonly admitted: number;
  readonly end: "refused" | "all sent" | "failing";
  readonly refused: readonly Exchange[];
  /** Health, read while the hour was exhausted; `null` if it was not. */
  readonly health: Exchange | null;
  /** A stream requested while the hour was exhausted, and the invoke after it if the stream was admitted. */
  readonly stream: Exchange | null;
  readonly afterStream: Exchange | null;
  readonly retried: TimedRetry | null;
  /** Used once the allowance was exhausted. */
  readonly twin: SiblingResult;
}

/** After this time no request counts against a minute, even if the minute before has a weight. Only the hour can then refuse. */
const twoMinutesMs = 2 * minuteMs + 3000;

export const hourExhausted = tierProbe(
  "an hour's allowance is used up",
  {
    needs: ["agents.answering"],
    requests: ({ limits }) => limits.perHour + 5,
    executions: ({ limits }) => 4 * Math.ceil(limits.perHour / limits.perMinute) + 4,
    window: ({ limits }) => limits.perHour,
    waitSeconds: ({ limits }) => Math.ceil(limits.perHour / limits.perMinute) * 61 + 61,
    concurrent: true,
  },
  async (context): Promise<HourExhausted> => {
    const { client, given, tested, time, target, recorder, discovery } = context;
    const readsCount = doReadsCount(discovery);
    const own = client.as(tested.key);
    const agent = given["agents.answering"];
    const { beganFresh, idleSinceMs } = await expireEarlierUse(context);
    const pauseMs = target.clock === null ? minuteOverMs : twoMinutesMs;
    const twinBefore = await sendSiblingControl(context);
    const { admitted, end } = await useUpHour(own, agent, tested.limits, {
      time,
      pauseMs,
      readsCount,
      before: 0,
      admittedBefore: null,
    });
    const refused = end === "all sent" ? [] : [await own.invoke(agent, hello, unpacedRequest)];
    const health = refused.length === 0 ? null : await own.health(agent);
    let [stream, afterStream]: [Exchange | null, Exchange | null] = [null, null];
    if (end === "refused" && target.clock !== null) {
      // Otherwise the minute's limit might refuse instead of the hour's.
      await time.passTime(pauseMs, "the hour alone must be used up");
      stream = await requestOtherEndpoints(own, agent, false);
      // If this invoke is refused, the hour has not ended, and the stream got past its limit.
      if (isSuccess(stream)) afterStream = await own.invoke(agent, hello, unpacedRequest);
    }
    const askedTwin = await askSibling(context, refused, twinBefore);
    // Requests since the first refusal may have changed the window, so a new refusal tells how long to wait.
    const last =
      end === "refused" && target.clock !== null ? await own.invoke(agent, hello, unpacedRequest) : refused.at(-1);
    const retried = target.clock === null ? null : await retryWhenDue(own, agent, last, time);
    const twin = await askSiblingAgain(context, askedTwin, idleSinceMs);
    const isShort = target.clock !== null && end === "refused" && admitted < tested.limits.perHour;
    const isSmall = tested.limits.perHour <= maxRepeatedAllowance;
    if (isShort) await time.passTime(useExpiryMs, "earlier use of the key must run out");
    if (isShort || (isSmall && retried !== null && statusOf(retried.exchange) === 200)) {
      const again = isShort ? { before: 0, admittedBefore: admitted } : { before: 1, admittedBefore: null };
      const next = await useUpHour(own, agent, tested.limits, { time, pauseMs, readsCount, ...again });
      // Two resets show how long the window is, and an admitted request shows that tokens are left.
      if (next.end === "refused") await retryWhenDue(own, agent, await own.invoke(agent, hello, unpacedRequest), time);
    }
    return {
      ...keyHistoryOf(tested.key, tested.limits, { target, recorder, look: discovery, idleSinceMs }),
      beganFresh,
      admitted,
      end,
      refused,
      health,
      stream,
      afterStream,
      retried,
      twin,
    };
  },
);

interface HourPlan {
  readonly time: RunClock;
  /** Pause between two bursts of a minute. */
  readonly pauseMs: number;
  /** Whether reading usage counts against the allowance. */
  readonly readsCount: boolean;
  /** Requests of this hour that were admitted before. */
  readonly before: number;
  /** How many requests were admitted when an earlier hour refused too soon. This hour then pauses in real time at that point. */
  readonly admittedBefore: number | null;
}

/** Exhausts the hour minute by minute, never beyond the minute's limit, so that the final refusal comes from the hour's. */
async function useUpHour(
  client: Client,
  agent: string,
  limits: TierLimits,
  { time, pauseMs, readsCount, before, admittedBefore }: HourPlan,
): Promise<{ readonly admitted: number; readonly end: HourExhausted["end"] }> {
  const { perHour, perMinute } = limits;
  const most = 2 * perHour + perMinute + 1;
  let admitted = before;
  let stopsShort = false;
  const believing = { filled: 0, believesToldFrom: time.canAdvance ? 0 : null };
  for (let idleMinutes = 0; admitted < most && idleMinutes < 2;) {
    // The request that opened the window counts in the first minute.
    const share = Math.min(admitted === before ? perMinute - before : perMinute, most - admitted);
    // The first early refusal is retried; the following ones are trusted.
    const expected = stopsShort ? 0 : Math.min(share, Math.max(0, perHour - admitted));
    const plan = { most: share, expected, atOnce: concurrencyFor(limits), readsCount, ...believing };
    const pauseAfter = admittedBefore === null ? null : admittedBefore - admitted;
    const round = await exhaustWithPause(client, agent, plan, pauseAfter);
    admitted += round.admitted;
    stopsShort ||= round.end === "refused" && round.admitted < share;
    if (round.end === "failing") return { admitted, end: "failing" };
    if (round.end === "refused" && admitted >= perHour) return { admitted, end: "refused" };
    idleMinutes = round.admitted === 0 ? idleMinutes + 1 : 0;
    if (admitted < most && idleMinutes < 2) await time.passTime(pauseMs, "the next minute of the hour");
  }
  return { admitted, end: admitted < most ? "refused" : "all sent" };
}
