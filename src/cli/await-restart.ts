import { setTimeout as sleep } from "node:timers/promises";

import { isLoopback } from "../target/base-url.ts";
import type { Target } from "../target/target.ts";
import { acceptsConnection } from "../wire/accepts-connection.ts";

/** Time between two connections. A server on this machine may be away for a moment only. */
const pollMs = { loopback: 200, elsewhere: 2000 } as const;
/** Longest wait for a restart. */
const maxWaitMs = 8 * 3_600_000;

/**
 * Waits until a target has refused a connection and then accepts one again. Opens one connection at a time, and sends
 * nothing. Resolves to `false` if the signal aborts before, or after eight hours.
 */
export async function awaitRestart(
  { baseUrl, network }: Target,
  signal: AbortSignal,
  onAway: () => void,
): Promise<boolean> {
  const untilMs = performance.now() + maxWaitMs;
  let wasAway = false;
  while (!signal.aborted && performance.now() < untilMs) {
    const isUp = await acceptsConnection(baseUrl, network);
    if (isUp && wasAway) return !signal.aborted;
    if (!isUp && !wasAway) onAway();
    wasAway ||= !isUp;
    await sleep(pollMs[isLoopback(baseUrl) ? "loopback" : "elsewhere"], undefined, { signal }).catch(() => {});
  }
  return false;
}
