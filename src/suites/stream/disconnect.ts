import { setTimeout as sleep } from "node:timers/promises";

import { sumOf } from "../../base/numbers.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { announcesWaitOverHour } from "../../rules/limits/header-rules.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { tokensExplain } from "../../rules/limits/month-tokens.ts";
import { sampleOf, wholeNumberHeader } from "../../rules/limits/sample.ts";
import { check } from "../../run/judge/check.ts";
import { breach, holds, unproven } from "../../run/judge/finding.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { hasFewRequests, untestedFirst } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { agentPath, bodyFor, type Client } from "../../run/send/client.ts";
import type { SendOptions } from "../../run/send/send-guard.ts";
import { anyOf, need } from "../../run/skip-reason.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { headerNames } from "../../spec/headers.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { type Target, type TargetKey, usableKeys } from "../../target/target.ts";
import type { PendingExchange } from "../../wire/transport.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { eventsOf, isEventStream, hasEnded } from "./events.ts";
import { streamedSlowly, type TimedStream } from "./probes.ts";

/** Result of opening streams up to the key's concurrency limit, closing them, and opening new ones. */
type DisconnectResult =
  | { readonly kind: "no known limit" }
  | { readonly kind: "not opened"; readonly held: readonly Exchange[] }
  | {
      readonly kind: "closed";
      readonly slots: number;
      readonly held: readonly Exchange[];
      readonly beyond: Exchange;
      readonly wanted: number;
      readonly after: readonly Exchange[];
    };

/** Pauses before the attempts 1 to 5 to open new streams. Some servers notice a disconnect only after seconds. */
const pausesMs = [200, 800, 1000, 1500, 2000] as const;
/** Real time to wait for the network: for the server to get a disconnect, or for the harness to get a refusal. */
const disconnectDelayMs = 50;
const maxOpeningMs = 10_000;

const disconnected = probe(
  "all slots of a key are held by streams, the client closes them, and opens as many again",
  {
    needs: ["agents.slowStreaming"],
    requests: (target) => (hasFewRequests(target) ? 4 : 5),
    waits: { mode: "required", seconds: sumOf(pausesMs) / 1000 },
    stage: "concurrency",
    keys: (target) => {
      const found = keyOfFewestSlots(target);
      return found === null ? [] : [found.key];
    },
  },
  async (context): Promise<DisconnectResult> => {
    const found = keyOfFewestSlots(context.target);
    if (found === null) return { kind: "no known limit" };
    const { key, limits } = found;
    const agent = context.given["agents.slowStreaming"];
    const path = agentPath(agent, "stream");
    const options = { json: bodyFor(agent, { query: "Please take your time." }), accept: "text/event-stream" };
    const client = context.client.as(key);
    const wanted = hasFewRequests(context.target) ? 1 : limits.concurrent;
    await waitForAllowance(context, key, limits, limits.concurrent + wanted + pausesMs.length);
    const streams = Array.from({ length: limits.concurrent }, () => client.open("POST", path, options));
    if (!(await awaitFirstEvents(streams, context))) return { kind: "not opened", held: await closeAll(streams) };
    const beyond = await closeStream((await tryStream(client, path, options, context.time)).stream);
    const held = await closeAll(streams);

    const again: StreamAttempt[] = [];
    const openCount = (): number => again.filter(({ isOver }) => !isOver).length;
    for (const [index, pauseMs] of pausesMs.entries()) {
      // Some servers notice a closed stream only at the agent's next event. Agents follow real time or the test clock,
      // so time must pass on both.
      await sleep(index > 0 && context.time.canAdvance ? pauseMs : disconnectDelayMs);
      await context.time.passTime(pauseMs, "the closed streams must release their slots");
      while (openCount() < wanted) {
        const attempt = await tryStream(client, path, options, context.time);
        again.push(attempt);
        if (attempt.isOver) break;
      }
      if (openCount() === wanted) break;
    }
    const after = await closeAll(again.map(({ stream }) => stream));
    return { kind: "closed", slots: limits.concurrent, held, beyond, wanted, after };
  },
);

async function awaitFirstEvents(streams: readonly PendingExchange[], { time, target }: ProbeContext): Promise<boolean> {
  const allStarted = Promise.all(streams.map(({ firstEvent }) => firstEvent)).then(() => true);
  const timeout = sleep(target.clock === null ? maxOpeningMs : maxOpeningMs / 5, false);
  return time.passUntil(Promise.race([allStarted, timeout]), maxOpeningMs / 2);
}

function closeStream(stream: PendingExchange): Promise<Exchange> {
  stream.close();
  return stream.finished;
}

const closeAll = (streams: readonly PendingExchange[]): Promise<Exchange[]> => Promise.all(streams.map(closeStream));

interface StreamAttempt {
  readonly stream: PendingExchange;
  readonly isOver: boolean;
}

async function tryStream(client: Client, path: string, options: SendOptions, time: RunClock): Promise<StreamAttempt> {
  const stream = client.open("POST", path, { ...options, deadlines: { headMs: 5000, silenceMs: 8000 } });
  await time.passUntil(stream.opened, maxOpeningMs / 4);
  const isOver = await Promise.race([stream.finished.then(() => true), sleep(disconnectDelayMs, false)]);
  return { stream, isOver };
}

function keyOfFewestSlots(target: Target): { key: TargetKey; limits: TierLimits } | null {
  const known = untestedFirst(usableKeys(target), target).flatMap((key) => {
    const limits = limitsOf(key, target);
    return limits === null ? [] : [{ key, limits }];
  });
  return known.toSorted((one, other) => one.limits.concurrent - other.limits.concurrent)[0] ?? null;
}

/** Waits until the key has `needed` requests left. During a later wait, the probe's open streams could end. */
async function waitForAllowance({ recorder, time }: ProbeContext, key: TargetKey, limits: TierLimits, needed: number) {
  const endings = recorder
    .samplesOf(key.name)
    .filter(({ kind, status }) => kind !== "health" && status !== null)
    .map(({ endMs, endClockMs }) => endMs + endClockMs)
    .filter((atMs) => atMs > time.targetMs() - minuteOverMs)
    .toSorted((one, other) => other - one);
  const oldestToPass = endings[Math.max(0, limits.perMinute - needed)];
  if (oldestToPass === undefined) return;
  await time.passTime(
    oldestToPass + minuteOverMs - time.targetMs(),
    `${key.name} must have ${needed} requests left in its minute`,
  );
}

export const disconnectCheck = check(
  "SSE-27",
  { left: disconnected, slow: streamedSlowly },
  ({ left: evidence, slow }) => {
    if (evidence.kind === "no known limit")
      return unproven(
        "how many requests the key may have at once is not known",
        anyOf(need("tier"), "`tier` of a key in the target file"),
      );
    if (evidence.kind === "not opened")
      return unproven(
        `not all of ${evidence.held.length} streams began at once (${evidence.held.map(outcomeOf).join(", ")})`,
      );
    const { slots, held, beyond, wanted, after } = evidence;
    const failed = held.find((each) => !isEventStream(each));
    if (failed !== undefined) return unproven(`not all of ${slots} streams opened at once (${outcomeOf(failed)})`);
    if (held.some(hasEnded)) return unproven("a stream ended before the harness closed it");
    if (!hasStatus(beyond, 429))
      return unproven(
        `with ${slots} streams open one more request was not refused (${outcomeOf(beyond)}), so slots cannot be observed`,
      );
    const last = after.at(-1);
    const admitted = after.filter(isSuccess).length;
    if (admitted >= wanted) return holds();
    if (last === undefined || !hasStatus(last, 429) || wholeNumberHeader(last, headerNames.rateRemaining) === 0)
      return unproven(
        `the next request failed for another reason (${last === undefined ? "none was sent" : outcomeOf(last)})`,
      );
    if (announcesWaitOverHour(sampleOf(last))) return unproven(tokensExplain);
    const triedMs = last.sentMs - Math.max(...held.map(({ answer }) => answer.endMs));
    const advancedMs = last.clockMs - (after[0]?.clockMs ?? last.clockMs);
    if (!lastedLongEnough({ triedMs, advancedMs }, slow))
      return unproven("the agent pauses for so long between events that it may not have written since");
    return breach(
      `${wanted} of ${slots} streams are admitted again within a few seconds after all were closed`,
      `${admitted} in ${(triedMs / 1000).toFixed(1)} s; the last of ${after.length} requests was refused with 429`,
      ...held.slice(0, 1),
      last,
    );
  },
);

/** Time for the server to notice a disconnect after it has written to the closed connection. */
const noticingMs = 2000;

/** If a real pause between events reaches this value, the agent ignores the test clock. */
const realGapMs = 100;

/** Whether the server had time to notice the disconnect. Some servers notice only when they write the next event. */
function lastedLongEnough(
  { triedMs, advancedMs }: { readonly triedMs: number; readonly advancedMs: number },
  { exchange, clockAtEventsMs }: Pick<TimedStream, "exchange" | "clockAtEventsMs">,
): boolean {
  const longest = (times: readonly number[]): number =>
    Math.max(0, ...times.slice(1).map((time, index) => time - (times[index] ?? time)));
  const events = eventsOf(exchange);
  const realMs = longest(events.map(({ atMs }) => atMs));
  const isAdvanced = clockAtEventsMs.some((ms) => ms > exchange.clockMs);
  const targetMs = longest(events.map(({ atMs }, index) => atMs + (clockAtEventsMs[index] ?? 0)));
  return triedMs >= realMs + noticingMs && (!isAdvanced || realMs >= realGapMs || advancedMs >= targetMs + noticingMs);
}
