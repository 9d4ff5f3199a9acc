import type { Clock } from "../clock.ts";

export type DisconnectSignal = ReturnType<typeof disconnectSignal>;

export function disconnectSignal() {
  // Creates the set only when needed, because few responses have a listener.
  let listeners: Set<() => void> | null = null;
  let isGone = false;
  return {
    isDisconnected: () => isGone,
    disconnect: () => {
      isGone = true;
      for (const listener of listeners ?? []) listener();
      listeners = null;
    },
    onDisconnect: (listener: () => void) => {
      if (isGone) listener();
      else (listeners ??= new Set()).add(listener);
      return () => void listeners?.delete(listener);
    },
  };
}

export function sleep(clock: Clock, ms: number, client: DisconnectSignal | null): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => {
      removeListener();
      resolve();
    }, ms);
    const onLeave = () => {
      clock.clearTimeout(timer);
      resolve();
    };
    let removeListener = () => {};
    if (client !== null) removeListener = client.onDisconnect(onLeave);
  });
}

export async function waitEventLoopTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}
