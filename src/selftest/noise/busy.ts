import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";

/** Takes the processor away for stretches of time, until it is closed. */
export interface Busy {
  readonly close: () => Promise<void>;
}

const hog = `
  const { workerData } = require("node:worker_threads");
  setInterval(() => { for (const end = Date.now() + workerData.workMs; Date.now() < end;); }, workerData.everyMs);
`;

/** One thread for each core, which computes for `workMs` out of each `everyMs`. */
export function hogCores(workMs: number, everyMs: number): Busy {
  const hogs = Array.from({ length: availableParallelism() }, () => {
    return new Worker(hog, { eval: true, workerData: { workMs, everyMs } });
  });
  return { close: async () => void (await Promise.all(hogs.map((each) => each.terminate()))) };
}

/** Keeps the event loop of this thread for up to `mostMs` at a time, about as often as it lets it go for `everyMs`. */
export function delayLoop(mostMs: number, everyMs: number, numbers: () => number): Busy {
  const timer = setInterval(() => {
    const until = performance.now() + numbers() * mostMs;
    while (performance.now() < until);
  }, everyMs);
  return {
    close: async () => {
      clearInterval(timer);
      await sleep(0);
    },
  };
}
