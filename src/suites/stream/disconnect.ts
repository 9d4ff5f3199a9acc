import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { setTimeout as sleep } from "node:timers/promises";

import { sumOf } from "../../base/numbers.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { agentPath, bodyFor, type Client, type SendOptions } from "../../run/send/client.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { hasFewRequests, untestedFirst } from "../../run/plan/needs.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { type Target, type TargetKey, usableKeys } from "../../target/target.ts";
import type { PendingExchange } from "../../wire/transport.ts";

/** Holds all slots of a key by streams, closes them, and opens streams again. */
export type Disconnect =
  | { readonly kind: "no known limit" }
  | { readonly kind: "not opened"; readonly held: readonly Exchange[] }
  | {
      readonly kind: "closed";
      readonly slots: number;
      readonly held: readonly Exchange[];
      /** One more request while all slots were held. */
      readonly beyond: Exchange;
      /** How many streams to open again: only one if the main key has few requests. */
      readonly wanted: number;
      /** Streams opened after the closing and kept open, until `wanted` were open or the time was up. */
      readonly after: readonly Exchange[];
    };

/**
 * Pauses between retries. The document: a stream whose client left is stopped "when the server notices, at the latest a
 * few seconds after its next write".
 */
const pausesMs = [200, 800, 1000, 1500, 2000] as const;
/** Real time in which the end of a connection reaches the server, even if the wait only advances a clock. */
const networkMs = 50;
const mostToBeginMs = 10_000;

export const disconnected = probe(
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
  async (scene): Promise<Disconnect> => {
    const found = keyOfFewestSlots(scene.target);
    if (found === null) return { kind: "no known limit" };
    const { key, limits } = found;
    const player = scene.given["agents.slowStreaming"];
    const path = agentPath(player, "stream");
    const options = { json: bodyFor(player, { query: "Please take your time." }), accept: "text/event-stream" };
    const client = scene.client.as(key);
    const wanted = hasFewRequests(scene.target) ? 1 : limits.concurrent;
    await waitForRoom(scene, key, limits, limits.concurrent + wanted + pausesMs.length);
    const streams = Array.from({ length: limits.concurrent }, () => client.open("POST", path, options));
    if (!(await haveBegun(streams, scene))) return { kind: "not opened", held: await closed(streams) };
    const beyond = await glance(client, path, options, scene.time);
    const held = await closed(streams);

    const again: PendingExchange[] = [];
    let open = 0;
    for (const [index, pauseMs] of pausesMs.entries()) {
      // The agent has to write once more, in real time or by the advanced clock, and its socket works in real time.
      await sleep(index > 0 && scene.time.canAdvance ? pauseMs : networkMs);
      await scene.time.passTime(pauseMs, "a stream that was closed gives its slot back");
      open += await openUpTo(wanted - open, again, () => look(client, path, options, scene.time));
      if (open === wanted) break;
    }
    const after = await closed(again);
    return { kind: "closed", slots: limits.concurrent, held, beyond, wanted, after };
  },
);

/** Waits until each stream has sent its first event. Returns whether all did in time. */
async function haveBegun(streams: readonly PendingExchange[], { time, target }: ProbeContext): Promise<boolean> {
  const begun = Promise.all(streams.map(({ firstEvent }) => firstEvent)).then(() => true);
  const patience = sleep(target.clock === null ? mostToBeginMs : mostToBeginMs / 5, false);
  return time.passUntil(Promise.race([begun, patience]), mostToBeginMs / 2);
}

function closed(streams: readonly PendingExchange[]): Promise<Exchange[]> {
  for (const each of streams) each.close();
  return Promise.all(streams.map(({ finished }) => finished));
}

/** Opens streams one by one until `wanted` are open or one is refused. Returns how many are open. */
async function openUpTo(wanted: number, all: PendingExchange[], next: () => Promise<Look>): Promise<number> {
  for (let open = 0; open < wanted; open++) {
    const { underway, isOver } = await next();
    all.push(underway);
    if (isOver) return open;
  }
  return wanted;
}

/** A request whose outcome is known: a refusal has ended, an admitted stream goes on. */
interface Look {
  readonly underway: PendingExchange;
  readonly isOver: boolean;
}

async function look(client: Client, path: string, options: SendOptions, time: RunClock): Promise<Look> {
  const underway = client.open("POST", path, { ...options, deadlines: { headMs: 5000, silenceMs: 8000 } });
  await time.passUntil(underway.opened, mostToBeginMs / 4);
  const isOver = await Promise.race([underway.finished.then(() => true), sleep(networkMs, false)]);
  return { underway, isOver };
}

/** Tries a stream and closes it. */
async function glance(...asked: Parameters<typeof look>): Promise<Exchange> {
  const { underway } = await look(...asked);
  underway.close();
  return underway.finished;
}

function keyOfFewestSlots(target: Target): { key: TargetKey; limits: TierLimits } | null {
  const known = untestedFirst(usableKeys(target), target).flatMap((key) => {
    const limits = limitsOf(key, target);
    return limits === null ? [] : [{ key, limits }];
  });
  return known.toSorted((one, other) => one.limits.concurrent - other.limits.concurrent)[0] ?? null;
}

/** Waits until the key's minute has enough requests left for all streams, because they are held at the same time. */
async function waitForRoom({ recorder, time }: ProbeContext, key: TargetKey, limits: TierLimits, needed: number) {
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
    `room for ${needed} requests of ${key.name} at once`,
  );
}
