import { randomUUID } from "node:crypto";

import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { tiersUnderTest } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import type { Client } from "../../run/send/client.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";

export const maxTimeoutMs = 60_000;
export const timeoutStepMs = 5000;

/** Maximum number of slots of a key to test: each slot needs an execution. */
const maxSlots = 4;

/**
 * Returns the key with the fewest slots. `null` if it has more than `maxSlots`, or without a test clock, where timeouts
 * take too long.
 */
export function keyWithFewestSlots(target: Target): { readonly key: TargetKey; readonly slots: number } | null {
  if (target.clock === null) return null;
  const tiers = tiersUnderTest(target).toSorted((one, other) => one.limits.concurrent - other.limits.concurrent);
  const [smallest] = tiers;
  return smallest === undefined || smallest.limits.concurrent > maxSlots
    ? null
    : { key: smallest.key, slots: smallest.limits.concurrent };
}

/** An invoke with a key, after executions have ended that held all its slots. */
export interface InvokeAfterEnds {
  readonly after: Exchange;
  /** The invoke of `after`, repeated 5 seconds later by the target's clock; `null` unless `after` was refused. */
  readonly later: Exchange | null;
}

/** Time after which the slots must be free again, by the target's clock. */
const slotReleaseMs = 5000;

/** Invokes an agent. If it gets 429, invokes it again once the slots must be free. */
export async function invokeAfterEnds(
  own: Client,
  agent: Parameters<Client["invoke"]>[0],
  time: RunClock,
): Promise<InvokeAfterEnds> {
  const send = (): Promise<Exchange> => own.invoke(agent, { query: "Hello." }, { noRetry: true });
  const after = await send();
  if (!hasStatus(after, 429)) return { after, later: null };
  await time.passTime(slotReleaseMs, "a slot may be given back a little later");
  return { after, later: await send() };
}

/** Judges that the slots of executions that timed out are free again. */
export function judgeTimedOutSlots(
  { after, later }: InvokeAfterEnds,
  ended: readonly Exchange[],
  what: "invoke" | "stream",
): Finding<never> {
  if (isSuccess(after) || (later !== null && isSuccess(later))) return holds();
  const refused = later ?? after;
  if (!hasStatus(refused, 429)) return unproven(`a request afterwards got ${outcomeOf(refused)}`);
  if (sampleOf(refused).remaining === 0) return unproven("the key's allowance was used up as well");
  return breach(
    `a slot is free again once its ${what} has run into the timeout`,
    `${outcomeOf(refused)} after ${ended.length} such ${what}s had ended`,
    refused,
    ...ended,
  );
}

/** Invokes of an agent that times out, one for each slot of a key. */
export interface TimedOutInvokes extends InvokeAfterEnds {
  readonly invokes: readonly Exchange[];
}

export const invokesTimedOut = probe(
  "invokes run into their agent's timeout, and the key is used again",
  {
    needs: ["agents.timingOut", "agents.answering"],
    requests: (target) => (keyWithFewestSlots(target)?.slots ?? -1) + 1,
    executions: (target) => (keyWithFewestSlots(target)?.slots ?? -1) + 1,
    waits: { mode: "reserved", seconds: 0 },
    keys: (target) => [keyWithFewestSlots(target)?.key ?? []].flat(),
    stage: "exclusive",
    since: "1.2",
  },
  async ({ client, given, target, time }): Promise<TimedOutInvokes | null> => {
    const smallest = keyWithFewestSlots(target);
    if (smallest === null) return null;
    const own = client.as(smallest.key);
    const sent = Array.from({ length: smallest.slots }, () =>
      own.invoke(given["agents.timingOut"], { query: `Hello. ${randomUUID()}` }, { noRetry: true }),
    );
    const invokes = await time.passUntil(Promise.all(sent), maxTimeoutMs, timeoutStepMs);
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
    return judgeTimedOutSlots(timedOut, timedOut.invokes, "invoke");
  },
  { as: "invokes that time out", since: "1.2" },
);
