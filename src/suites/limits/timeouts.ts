import { randomUUID } from "node:crypto";

import { getPath } from "../../base/json.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { announcesWaitOverHour } from "../../rules/limits/header-rules.ts";
import { tokensExplain } from "../../rules/limits/month-tokens.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { defaultQuery } from "../../run/discovery/discover-target.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { type Finding, breach, exempt, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { tiersUnderTest } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import type { Client } from "../../run/send/client.ts";
import { WaitRefused, need } from "../../run/skip-reason.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { type Target, type TargetKey, roleAssignmentOf } from "../../target/target.ts";
import { codeOf, describeStatus, fieldsOf, hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";

export const maxTimeoutMs = 60_000;
export const timeoutStepMs = 5000;

/** Highest concurrency limit of a key for slot tests. Filling more slots would run agents too often. */
const maxSlots = 4;

export function keyForSlotTests(target: Target): { readonly key: TargetKey; readonly slots: number } | null {
  if (target.clock === null) return null;
  const tiers = tiersUnderTest(target).toSorted((one, other) => one.limits.concurrent - other.limits.concurrent);
  const [smallest] = tiers;
  return smallest === undefined || smallest.limits.concurrent > maxSlots
    ? null
    : { key: smallest.key, slots: smallest.limits.concurrent };
}

/** Invokes sent after other executions have ended, to test whether the target has freed the concurrency slots. */
export interface InvokeAfterEnds {
  readonly after: Exchange;
  /** A second invoke, at least 5 s later on the target's clock. Only sent if `after` got 429; otherwise `null`. */
  readonly later: Exchange | null;
}

/** Time that a target may take to free the slots of ended executions, measured on its test clock. */
const slotReleaseMs = 5000;
/** Real time to wait after `slotReleaseMs`, because a target can need real time to stop processes. */
const realSlotReleaseMs = 1500;

/** Invokes an agent. After a 429, gives the server time to free its slots and invokes again. */
export async function invokeAfterEnds(
  own: Client,
  agent: Parameters<Client["invoke"]>[0],
  time: RunClock,
): Promise<InvokeAfterEnds> {
  const send = (): Promise<Exchange> => own.invoke(agent, { query: "Hello." }, { noRetry: true });
  const after = await send();
  if (!hasStatus(after, 429)) return { after, later: null };
  await time.passTime(slotReleaseMs, "a slot may be given back a little later");
  await time.sleepReal(realSlotReleaseMs);
  return { after, later: await send() };
}

/**
 * Judges LIM-17: ended executions no longer occupy concurrency slots. `execution` is a text for the finding, e.g. `an
 * invoke that runs into the timeout`.
 */
export function judgeFreedSlots(
  { after, later }: InvokeAfterEnds,
  ended: readonly Exchange[],
  execution: string,
): Finding<never> {
  if (isSuccess(after) || (later !== null && isSuccess(later))) return holds();
  const refused = later ?? after;
  if (!hasStatus(refused, 429)) return unproven(`a request afterwards got ${outcomeOf(refused)}`);
  if (sampleOf(refused).remaining === 0) return unproven("the key's allowance was used up as well");
  if (announcesWaitOverHour(sampleOf(refused))) return unproven(tokensExplain);
  return breach(
    `a slot is free again after ${execution}`,
    `${outcomeOf(refused)} after ${ended.length} of them had ended`,
    refused,
    ...ended,
  );
}

export interface TimedOutInvokes extends InvokeAfterEnds {
  readonly invokes: readonly Exchange[];
}

export const invokesTimedOut = probe(
  "invokes run into their agent's timeout, and the key is used again",
  {
    needs: ["agents.timingOut", "agents.answering"],
    requests: (target) => (keyForSlotTests(target)?.slots ?? -1) + 1,
    executions: (target) => (keyForSlotTests(target)?.slots ?? -1) + 1,
    waits: { mode: "reserved", seconds: 0 },
    keys: (target) => [keyForSlotTests(target)?.key ?? []].flat(),
    stage: "exclusive",
    since: "1.2",
  },
  async ({ client, given, target, time }): Promise<TimedOutInvokes | null> => {
    const smallest = keyForSlotTests(target);
    if (smallest === null) return null;
    const own = client.as(smallest.key);
    const sent = Array.from({ length: smallest.slots }, () =>
      own.invoke(given["agents.timingOut"], { query: `Hello. ${randomUUID()}` }, { noRetry: true }),
    );
    // The pacer may send one invoke at a time, so that the timeouts add up: at most 240 s for 4 invokes.
    const invokes = await time.passUntil(Promise.all(sent), maxTimeoutMs * smallest.slots, timeoutStepMs);
    return { invokes, ...(await invokeAfterEnds(own, given["agents.answering"], time)) };
  },
);

const hasFailed = (invoke: Exchange): boolean => (statusOf(invoke) ?? 0) >= 500;

export const timedOutInvokesCheck = check(
  "LIM-17",
  invokesTimedOut,
  (timedOut): Finding<never> => {
    if (timedOut === null) return inapplicable("no key of few slots, or no test clock");
    const other = timedOut.invokes.find((each) => !hasFailed(each));
    if (other !== undefined) return unproven(`not every invoke ran into the timeout (${outcomeOf(other)})`);
    return judgeFreedSlots(timedOut, timedOut.invokes, "an invoke that runs into the timeout");
  },
  { as: "invokes that time out", since: "1.2" },
);

interface OverdueInvoke {
  readonly exchange: Exchange;
  readonly minMs: number;
  readonly maxMs: number;
}

const defaultTimeoutSeconds = 30;
/** An invoke that times out earlier does not have the default timeout. 10 % are tolerance. */
const minDefaultMs = 0.9 * defaultTimeoutSeconds * 1000;
/** An invoke that times out later does not have the default timeout, not even after a cold start or in a queue. */
const maxDefaultMs = 2 * defaultTimeoutSeconds * 1000;
/** An agent that succeeds with a longer `execution_time` should have timed out. 20 % are tolerance. */
const maxExecutionSeconds = 1.2 * defaultTimeoutSeconds;

const responseTimeoutMs = maxDefaultMs + 5000;
const clockStepMs = 5000;
/** Pause between two advances of the test clock, so that responses can arrive. */
const clockRestMs = 50;

const requestCount = (target: Target): number => Number(roleAssignmentOf(target, "timingOutByDefault") !== null);

const overdueInvoked = probe(
  "an agent that takes longer than the default timeout is invoked",
  {
    requests: requestCount,
    executions: requestCount,
    waits: { mode: "reserved", seconds: (target) => (requestCount(target) * responseTimeoutMs) / 1000 },
    stage: "exclusive",
    since: "1.2",
  },
  async ({ client, target, time }): Promise<OverdueInvoke | null> => {
    const assignment = roleAssignmentOf(target, "timingOutByDefault");
    if (assignment === null) return null;
    if (!time.canWait(responseTimeoutMs))
      throw new WaitRefused({ why: "no time left", takes: "the default timeout takes up to 65 s" }, need("maxWaitMs"));
    const options = { noRetry: true, ...(time.agentsFollow ? {} : { minHeadMs: responseTimeoutMs }) } as const;
    const invoked = client.since("1.2").invoke(assignment, { query: defaultQuery }, options);
    const ended = invoked.then((exchange) => ({
      exchange,
      movedMs: time.clockOffsetMs() - exchange.clockMs,
      maxMovedMs: time.maxClockOffsetMs() - exchange.clockMs,
    }));
    const { exchange, movedMs, maxMovedMs } = await time.awaitAgent(
      ended,
      2 * responseTimeoutMs,
      clockStepMs,
      clockRestMs,
    );
    const realMs = exchange.answer.endMs - exchange.sentMs;
    return { exchange, minMs: realMs + (time.agentsFollow ? movedMs : 0), maxMs: realMs + maxMovedMs };
  },
);

const expected = `a timeout after ${defaultTimeoutSeconds} s`;
const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Whether the status or the error code shows a timeout. */
const namesTimeout = (exchange: Exchange): boolean =>
  hasStatus(exchange, 408, 504) || /time.?(d.?)?out|deadline/i.test(codeOf(exchange) ?? "");

const mayBeGateway = (exchange: Exchange): boolean =>
  hasStatus(exchange, 408, 502, 503, 504) && codeOf(exchange) === null;

function judgeSuccess({ exchange, minMs }: OverdueInvoke): Finding<never> {
  const reported = getPath(fieldsOf(exchange, ["result", "metadata"]), "metadata", "execution_time");
  const isTooLong = typeof reported === "number" ? reported > maxExecutionSeconds : minMs >= maxDefaultMs;
  return isTooLong && minMs >= minDefaultMs
    ? breach(expected, `${describeStatus(exchange)} after ${secondsOf(minMs)}`, exchange)
    : unproven(`the agent answered after ${secondsOf(minMs)}, so it does not take longer than the timeout`);
}

/** Judges LIM-27: the default timeout is 30 seconds. Unproven if a gateway may have sent the response. */
export function judgeDefaultTimeout(overdue: OverdueInvoke | null): Finding<never> {
  if (overdue === null)
    return exempt("the target file names no agent for `agents.timingOutByDefault`, without a timeout of its own");
  const { exchange, minMs, maxMs } = overdue;
  if (isSuccess(exchange)) return judgeSuccess(overdue);
  if (exchange.answer.kind === "unanswered")
    return exchange.answer.reason === "silent" && minMs >= maxDefaultMs
      ? breach(expected, `no response within ${secondsOf(minMs)}`, exchange)
      : unproven(`the invoke got no response: ${exchange.answer.detail}`);
  if (mayBeGateway(exchange)) return unproven(`the response may be a gateway's (${describeStatus(exchange)})`);
  if (!hasStatus(exchange, 408, 500, 502, 503, 504))
    return unproven(`the execution did not fail as expected (${describeStatus(exchange)})`);
  if (minMs >= maxDefaultMs) return breach(expected, `one after ${secondsOf(minMs)}`, exchange);
  if (maxMs >= minDefaultMs) return holds();
  return namesTimeout(exchange)
    ? breach(expected, `one after ${secondsOf(maxMs)} (${describeStatus(exchange)})`, exchange)
    : unproven(`the agent failed after ${secondsOf(maxMs)} (${describeStatus(exchange)}), perhaps for another reason`);
}

export const defaultTimeoutCheck: Check = check("LIM-27", overdueInvoked, judgeDefaultTimeout);
