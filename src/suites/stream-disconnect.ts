import { setTimeout as sleep } from "node:timers/promises";

import type { Exchange } from "../evidence/exchange.ts";
import type { TierLimits } from "../interface/tiers.ts";
import { agentPath } from "../run/client.ts";
import { probe, type Scene } from "../run/probe.ts";
import { limitsOf } from "../run/tier-of.ts";
import { type TargetKey, usableKeys } from "../target/target.ts";

/** All slots of a key held by streams, then all of them closed by the client, then a request in want of a slot. */
export type Disconnect =
  | { readonly kind: "no known limit" }
  | {
      readonly kind: "closed";
      readonly slots: number;
      readonly held: readonly Exchange[];
      /** One more request while all slots were held. */
      readonly beyond: Exchange;
      /** Requests after the closing, until one was admitted or patience ended. */
      readonly after: readonly Exchange[];
    };

/** A stream that its client has left is stopped "when the server notices, at the latest a few seconds after its next write". */
const pausesMs = [200, 800, 1000, 1500, 2000] as const;
/** The socket's end has to reach the server even where the wait itself takes no time. */
const networkMs = 50;
const minuteMs = 61_000;
const body = { query: "Please take your time." };

export const disconnected = probe(
  "all slots of a key are held by streams, and the client closes them",
  { needs: ["agents.slowStreaming"], requests: 4, lane: "alone" },
  async (scene): Promise<Disconnect> => {
    const found = keyOfFewestSlots(scene);
    if (found === null) return { kind: "no known limit" };
    const { key, limits } = found;
    const path = agentPath(scene.given["agents.slowStreaming"], "stream");
    const client = scene.client.as(key);
    const options = { json: body, accept: "text/event-stream" } as const;
    const glance = { ...options, unpaced: true, deadlines: { headMs: 5000 }, enough: () => true };

    await waitForRoom(scene, key, limits, limits.concurrent + 1 + pausesMs.length);
    const streams = Array.from({ length: limits.concurrent }, () => client.open("POST", path, options));
    await scene.time.passUntil(Promise.all(streams.map(({ flowing }) => flowing)), 10_000);
    const beyond = await client.send("POST", path, glance);
    for (const { close } of streams) close();
    const held = await Promise.all(streams.map(({ finished }) => finished));

    const after: Exchange[] = [];
    for (const pauseMs of pausesMs) {
      await sleep(networkMs);
      await scene.time.wait(pauseMs, "a stream that was closed gives its slot back");
      const tried = await client.send("POST", path, glance);
      after.push(tried);
      if (tried.answer.kind === "answered" && tried.answer.status !== 429) break;
    }
    return { kind: "closed", slots: limits.concurrent, held, beyond, after };
  },
);

function keyOfFewestSlots({ target }: Scene<never>): { key: TargetKey; limits: TierLimits } | null {
  const known = usableKeys(target).flatMap((key) => {
    const limits = limitsOf(key, target);
    return limits === null ? [] : [{ key, limits }];
  });
  return known.toSorted((one, other) => one.limits.concurrent - other.limits.concurrent)[0] ?? null;
}

/** Streams held at once cannot take turns, so there must be room for all of them in the key's minute before the first. */
async function waitForRoom({ recorder, time }: Scene<never>, key: TargetKey, limits: TierLimits, needed: number) {
  const endings = recorder
    .samplesOf(key.name)
    .filter(({ kind, status }) => kind !== "health" && status !== null)
    .map(({ endMs, endClockMs }) => endMs + endClockMs)
    .filter((atMs) => atMs > time.targetMs() - minuteMs)
    .toSorted((one, other) => other - one);
  const oldestToPass = endings[Math.max(0, limits.perMinute - needed)];
  if (oldestToPass === undefined) return;
  await time.wait(oldestToPass + minuteMs - time.targetMs(), `room for ${needed} requests of ${key.name} at once`);
}
