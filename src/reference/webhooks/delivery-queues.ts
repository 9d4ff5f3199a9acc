import { setImmediate as turn } from "node:timers/promises";

/** Work in lanes: within one, only so much at once; no lane waits for another. */
export interface DeliveryQueues {
  /** Begins the work a moment later, or when its lane has room. Work must not reject. */
  add(lane: string, work: () => Promise<void>): void;
  /** Resolves when everything that has room has begun. */
  allStarted(): Promise<void>;
  /** Forgets what waits. */
  close(): void;
}

interface Lane {
  running: number;
  readonly waiting: (() => Promise<void>)[];
}

export function deliveryQueues(most: () => number): DeliveryQueues {
  const byName = new Map<string, Lane>();
  let beginning = 0;
  let closed = false;
  const next = async (name: string, lane: Lane): Promise<void> => {
    for (let work = lane.waiting.shift(); work !== undefined && !closed; work = lane.waiting.shift()) await work();
    lane.running -= 1;
    if (lane.running === 0) byName.delete(name);
  };
  return {
    add: (name, work) => {
      const lane = byName.get(name) ?? { running: 0, waiting: [] };
      byName.set(name, lane);
      lane.waiting.push(work);
      if (lane.running >= most()) return;
      lane.running += 1;
      beginning += 1;
      // Not now: whoever adds work has an answer to send first.
      setImmediate(() => {
        beginning -= 1;
        void next(name, lane);
      });
    },
    allStarted: async () => {
      while (beginning > 0) await turn();
    },
    close: () => {
      closed = true;
    },
  };
}
