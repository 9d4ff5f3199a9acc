import { earlyRetrySeconds, lateRetrySeconds, type Flow } from "../../scenarios.ts";
import type { LoadSample } from "../../../evidence/load-evidence.ts";

/** Real time at which each run begins: a Unix time of our years. */
export const beganMs = 1_790_000_000_123;

/** Something that happens at an instant of real time. */
export interface Event {
  readonly atMs: number;
  readonly run: () => void;
}

export type Send = (flow: Flow, atMs: number, answered: (sample: LoadSample) => void) => void;
export type Later = (atMs: number, run: () => void) => void;

/** Sends a flow in its shape. `flow` has the times of the client's clock, and `own` the planned times. */
export function drive(flow: Flow, own: Flow, send: Send, later: Later, speed: number): void {
  const startMs = beganMs + flow.afterSeconds * 1000;
  const { shape } = flow;
  const chain = (atMs: number, more: (atMs: number) => boolean): void => {
    if (more(atMs)) send(own, atMs, ({ endMs }) => chain(endMs + 0.05, more));
  };
  switch (shape.kind) {
    case "at once":
      for (let at = 0; at < shape.requests; at += 1)
        later(startMs + at * 0.02, () => send(own, startMs + at * 0.02, () => undefined));
      return;
    case "in turn":
    case "shared": {
      let left = shape.requests;
      const lanes = shape.kind === "shared" ? shape.atOnce : 1;
      for (let lane = 0; lane < lanes; lane += 1) later(startMs, () => chain(startMs, () => (left -= 1) >= 0));
      return;
    }
    case "closed":
      for (let lane = 0; lane < shape.atOnce; lane += 1)
        later(startMs, () => chain(startMs, (atMs) => atMs < startMs + shape.seconds * 1000));
      return;
    case "paced":
      for (let at = 0; at < shape.perSecond * shape.seconds; at += 1)
        later(startMs + (at * 1000) / shape.perSecond, () =>
          send(own, startMs + (at * 1000) / shape.perSecond, () => undefined),
        );
      return;
    case "after refusal":
      later(startMs, () => round(0, shape.rounds, startMs));
  }
  function round(at: number, rounds: number, atMs: number): void {
    if (at === rounds) return;
    send(own, atMs, ({ status, retryAfterSeconds, endMs: fromMs }) => {
      if (status !== 429 || retryAfterSeconds === null) return round(at, rounds, fromMs + 0.05);
      const askAt = ([dueMs, ...others]: readonly number[], from: number): void => {
        if (dueMs === undefined) return round(at + 1, rounds, from + 0.05);
        const dueAtMs = Math.max(dueMs, from + 0.05);
        later(dueAtMs, () => send(own, dueAtMs, ({ endMs }) => askAt(others, endMs)));
      };
      const after = (seconds: number): number => fromMs + (seconds * 1000) / speed;
      const early = earlyRetrySeconds(retryAfterSeconds, at).map(after);
      askAt([...early, after(lateRetrySeconds(retryAfterSeconds)) + 100], fromMs);
    });
  }
}

/** Removes the earliest event and returns it. */
export function next(events: Event[]): Event {
  let first = 0;
  for (let index = 1; index < events.length; index += 1)
    if ((events[index]?.atMs ?? 0) < (events[first]?.atMs ?? 0)) first = index;
  const found = events[first];
  const last = events.pop();
  if (found === undefined || last === undefined) throw new Error("no event is left");
  if (first < events.length) events[first] = last;
  return found;
}
