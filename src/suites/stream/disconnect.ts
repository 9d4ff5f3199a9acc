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

/** All slots of a key held by streams, then all of them closed by the client, then as many streams in want of a slot. */
export type Disconnect =
  | { readonly kind: "no known limit" }
  | { readonly kind: "not opened"; readonly held: readonly Exchange[] }
  | {
      readonly kind: "closed";
      readonly slots: number;
      readonly held: readonly Exchange[];
      /** One more request while all slots were held. */
      readonly beyond: Exchange;
      /** How many of them are opened again: one where the main key has few requests. */
      readonly wanted: number;
      /** Streams after the closing, all kept open, until so many were open or patience ended. */
      readonly after: readonly Exchange[];
    };

/** A stream that its client has left is stopped "when the server notices, at the latest a few seconds after its next write". */
const pausesMs = [200, 800, 1000, 1500, 2000] as const;
/** The socket's end has to reach the server even where the wait itself takes no time. */
const networkMs = 50;
const mostToBeginMs = 10_000;

export const disconnected = probe(
  "all slots of a key are held by streams, the client closes them, and opens as many again",
  {
    needs: ["agents.slowStreaming"],
    requests: (target) => (hasFewRequests(target) ? 4 : 5),
    waits: { how: "paid", seconds: sumOf(pausesMs) / 1000 },
    lane: "slots",
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
      // Whether the agent lives in real time or on a clock that is moved, it has to write once more, and its socket lives in real time.
      await sleep(index > 0 && scene.time.canMove ? pauseMs : networkMs);
      await scene.time.passTime(pauseMs, "a stream that was closed gives its slot back");
      open += await openUpTo(wanted - open, again, () => look(client, path, options, scene.time));
      if (open === wanted) break;
    }
    const after = await closed(again);
    return { kind: "closed", slots: limits.concurrent, held, beyond, wanted, after };
  },
);

/** Whether each stream has sent its first event, within the time that a sound one needs. */
async function haveBegun(streams: readonly PendingExchange[], { time, target }: ProbeContext): Promise<boolean> {
  const begun = Promise.all(streams.map(({ firstEvent }) => firstEvent)).then(() => true);
  const patience = sleep(target.clock === null ? mostToBeginMs : mostToBeginMs / 5, false);
  return time.passUntil(Promise.race([begun, patience]), mostToBeginMs / 2);
}

function closed(streams: readonly PendingExchange[]): Promise<Exchange[]> {
  for (const each of streams) each.close();
  return Promise.all(streams.map(({ finished }) => finished));
}

/** Opens streams, one after another, until so many are open or one is not; tells how many are. */
async function openUpTo(wanted: number, all: PendingExchange[], next: () => Promise<Look>): Promise<number> {
  for (let open = 0; open < wanted; open++) {
    const { underway, isOver } = await next();
    all.push(underway);
    if (isOver) return open;
  }
  return wanted;
}

/** A request of which it is known whether it is let in: a refusal is read whole, a stream goes on. */
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

/** The same, closed once that is known. */
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

/** Streams held at once cannot take turns, so there must be room for all of them in the key's minute before the first. */
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
