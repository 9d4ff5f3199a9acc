import type { Clock } from "../clock.ts";

/** Whether the other side of a request has gone, and who wants to know. */
export interface Departure {
  gone(): boolean;
  leave(): void;
  /** Calls `hear` when the client leaves; the answer stops that. */
  listen(hear: () => void): () => void;
}

export function departure(): Departure {
  // Most answers have nobody who waits.
  let listeners: Set<() => void> | null = null;
  let gone = false;
  return {
    gone: () => gone,
    leave: () => {
      gone = true;
      for (const hear of listeners ?? []) hear();
      listeners = null;
    },
    listen: (hear) => {
      if (gone) hear();
      else (listeners ??= new Set()).add(hear);
      return () => void listeners?.delete(hear);
    },
  };
}

/** Waits `ms` on the clock, or until the client leaves where one is given. */
export function pause(clock: Clock, ms: number, client: Departure | null): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const left = () => {
      clock.clearTimeout(timer);
      resolve();
    };
    let forget = () => {};
    if (client !== null) forget = client.listen(left);
  });
}

/** Lets the event loop turn `count` times. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}
