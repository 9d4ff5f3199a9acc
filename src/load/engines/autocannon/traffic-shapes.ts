import { setTimeout as sleep } from "node:timers/promises";

import { earlyRetrySeconds, lateRetrySeconds, type TrafficShape } from "../../scenarios.ts";
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
export async function sendInShape(shape: TrafficShape, { send, signal, speed }: Drive): Promise<void> {
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
        await refusalAndBack(round, { send, signal, speed });
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

/** Uses the allowance up; then asks well before `retry_after` is over in some rounds, and right after the whole of it in each. */
async function refusalAndBack(round: number, { send, signal, speed }: Drive): Promise<void> {
  const refused = await untilRefused(send, signal);
  const said = refused?.retryAfterSeconds ?? null;
  if (said === null) return;
  const fromMs = performance.now();
  const askAt = async (atMs: number): Promise<void> => {
    await pause(atMs - performance.now(), signal);
    if (!signal.aborted) await send();
  };
  for (const seconds of earlyRetrySeconds(said, round)) await askAt(fromMs + (seconds * 1000) / speed);
  await askAt(fromMs + (lateRetrySeconds(said) * 1000) / speed + marginMs);
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
