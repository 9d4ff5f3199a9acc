import { setTimeout as sleep } from "node:timers/promises";

import type { Shape } from "../../../../scenarios/scenario.ts";
import type { LoadSample } from "../../load-evidence.ts";

/** Sends one request; settles with what came of it. Never rejects. */
export type Send = () => Promise<LoadSample>;

/** What sending in a shape needs to know. */
export interface Drive {
  readonly send: Send;
  readonly signal: AbortSignal;
  /** How many of the target's milliseconds pass in one of ours. */
  readonly speed: number;
}

/** Sends in the shape of a flow, in our own time; settles when all was answered. */
export async function drive(shape: Shape, { send, signal, speed }: Drive): Promise<void> {
  switch (shape.kind) {
    case "at once":
      await Promise.all(Array.from({ length: shape.requests }, send));
      return;
    case "in turn":
      return share(shape.requests, 1, send, signal);
    case "shared":
      return share(shape.requests, shape.atOnce, send, signal);
    case "closed":
      return during(shape.seconds * 1000, shape.atOnce, send, signal);
    case "after refusal":
      for (let round = 0; round < shape.rounds && !signal.aborted; round += 1)
        await refusalAndBack(send, signal, speed);
      return;
    case "paced":
      throw new Error("a pace is kept by k6 only");
  }
}

async function share(requests: number, atOnce: number, send: Send, signal: AbortSignal): Promise<void> {
  let left = requests;
  const worker = async (): Promise<void> => {
    while (left > 0 && !signal.aborted) {
      left -= 1;
      await send();
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, requests) }, worker));
}

async function during(ms: number, atOnce: number, send: Send, signal: AbortSignal): Promise<void> {
  const endsMs = performance.now() + ms;
  const worker = async (): Promise<void> => {
    while (performance.now() < endsMs && !signal.aborted) await send();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** More than any window holds that is worth using up one by one. */
const mostUntilRefused = 20_000;
/** What may pass between a limiter's decision and our knowledge of it, on top of the answer's way. */
const marginMs = 100;

/** Uses the allowance up; then asks once after a third of `retry_after`, and once right after the whole of it. */
async function refusalAndBack(send: Send, signal: AbortSignal, speed: number): Promise<void> {
  const refused = await untilRefused(send, signal);
  const seconds = refused?.retryAfterSeconds ?? null;
  if (refused === null || seconds === null) return;
  const dueMs = performance.now() + (seconds * 1000) / speed + marginMs;
  // Of a second or two a third is too close to what rounding takes away.
  if (seconds >= 3) {
    await pause((seconds * 1000) / 3 / speed, signal);
    if (!signal.aborted) await send();
  }
  await pause(dueMs - performance.now(), signal);
  if (!signal.aborted) await send();
}

async function untilRefused(send: Send, signal: AbortSignal): Promise<LoadSample | null> {
  for (let sent = 0; sent < mostUntilRefused && !signal.aborted; sent += 1) {
    const sample = await send();
    if (sample.status === 429) return sample;
    // A target that is not there, or not in order, is never going to refuse.
    if (sample.status === null || sample.status >= 400) return null;
  }
  return null;
}

/** Settles after `ms`, or when `signal` stops the run. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(Math.max(0, ms), undefined, { signal }).catch(() => {});
