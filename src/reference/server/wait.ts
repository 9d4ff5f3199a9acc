import type { Clock } from "../clock.ts";

/** Whether the other side of a request has gone, and who wants to know. */
export interface DisconnectSignal {
  isDisconnected(): boolean;
  disconnect(): void;
  /** Calls `hear` when the client leaves; the answer stops that. */
  onDisconnect(hear: () => void): () => void;
}

export function disconnectSignal(): DisconnectSignal {
  // Most answers have nobody who waits.
  let listeners: Set<() => void> | null = null;
  let gone = false;
  return {
    isDisconnected: () => gone,
    disconnect: () => {
      gone = true;
      for (const hear of listeners ?? []) hear();
      listeners = null;
    },
    onDisconnect: (hear) => {
      if (gone) hear();
      else (listeners ??= new Set()).add(hear);
      return () => void listeners?.delete(hear);
    },
  };
}

/** Waits `ms` on the clock, or until the client leaves where one is given. */
export function sleep(clock: Clock, ms: number, client: DisconnectSignal | null): Promise<void> {
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
    if (client !== null) forget = client.onDisconnect(left);
  });
}

/** Lets the event loop turn `count` times. */
export async function eventLoopTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}
