import { setImmediate as turn } from "node:timers/promises";

/** Requests that are on the wire, for a virtual clock: it stands still until they are answered, but not for ever. */
export interface InFlightRequests {
  /** A request is being sent. Its end is told by calling what comes back. */
  begin(patience: WaitBudget): () => void;
  /** Whether a request is open whose patience is not used up. */
  isWaiting(): boolean;
  /** Resolves when there is none. */
  whenIdle(): Promise<void>;
}

/** How long a request is waited for: little where the receiver was silent the last time. */
export type WaitBudget = "usual" | "little";

/** Where receivers are: one in this process has answered after a few turns of its event loop, another may be kept waiting. */
export type ReceiverLocation = "in-process" | "anywhere";

/**
 * Patience counts in slices of real time, not by a clock: where this process itself was held up, that takes one slice
 * only, and what came in meanwhile is seen before the next.
 */
const sliceMs = 20;
const usualSlices: Readonly<Record<ReceiverLocation, number>> = { "in-process": 6, anywhere: 50 };
const littleSlices = 1;

/** Turns of the event loop in which an answer that has already arrived is read. */
const turnsToRead = 4;

export function inFlightRequests(receivers: ReceiverLocation): InFlightRequests {
  const open = new Set<object>();
  const waitedFor = new Set<object>();
  let waiters: (() => void)[] = [];
  const stopWaiting = (flight: object) => {
    waitedFor.delete(flight);
    if (waitedFor.size > 0) return;
    for (const wake of waiters) wake();
    waiters = [];
  };
  const wait = (flight: object, left: number) => {
    if (left === 0) return stopWaiting(flight);
    setTimeout(() => waitedFor.has(flight) && wait(flight, left - 1), sliceMs).unref();
  };
  return {
    begin: (patience) => {
      const flight = {};
      open.add(flight);
      waitedFor.add(flight);
      wait(flight, patience === "usual" ? usualSlices[receivers] : littleSlices);
      return () => {
        open.delete(flight);
        stopWaiting(flight);
      };
    },
    isWaiting: () => waitedFor.size > 0,
    whenIdle: async () => {
      while (waitedFor.size > 0) await new Promise<void>((resolve) => void waiters.push(resolve));
      for (let count = 0; count < turnsToRead && open.size > 0; count += 1) await turn();
    },
  };
}
