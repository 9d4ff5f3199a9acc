import { setTimeout as sleep } from "node:timers/promises";

type AgentClockKind = "unknown" | "real time" | "test clock";

/** How long to wait in real time for an agent's response. Afterwards, the test clock is advanced. */
const maxRealWaitMs: Readonly<Record<AgentClockKind, number>> = { unknown: 3000, "real time": 30_000, "test clock": 0 };
/**
 * If a response takes at least this long, its agent counts as using real time. The network can cause shorter delays.
 */
const minRealTimeMs = 900;
const pollMs = 50;

/**
 * Finds out whether agents follow real time or the test clock. `agentsFollow`: the user states that agents follow the
 * test clock.
 */
export function createAgentClock(agentsFollow: boolean, pause: (ms: number) => Promise<unknown> = sleep) {
  let kind: AgentClockKind = agentsFollow ? "test clock" : "unknown";
  let advancing: Promise<unknown> = Promise.resolve();

  const settlesAfter = async (promise: Promise<unknown>, ms: number): Promise<number | null> => {
    const settled = promise.then(
      () => true,
      () => true,
    );
    for (let waitedMs = 0; waitedMs < ms; waitedMs += pollMs)
      if (await Promise.race([settled, pause(pollMs).then(() => false)])) return waitedMs;
    return null;
  };

  /** Waits up to `maxRealWaitMs` in real time for an agent's response. Without a response, advances the test clock. */
  const awaitAgent = async <T>(promise: Promise<T>, advance: () => Promise<T>): Promise<T> => {
    const endedAfterMs = await settlesAfter(promise, maxRealWaitMs[kind]);
    if (endedAfterMs !== null) {
      if (endedAfterMs >= minRealTimeMs) kind = "real time";
      return promise;
    }
    const usedRealTime = kind === "real time";
    if (!usedRealTime) kind = "test clock";
    const advanced = advancing.then(advance);
    advancing = advanced.catch(() => {});
    // A response that comes soon after an advance proves that agents follow the test clock. Therefore `real time` was a
    // wrong guess.
    if (usedRealTime && (await settlesAfter(advanced, maxRealWaitMs["unknown"])) !== null) kind = "test clock";
    return advanced;
  };

  return { awaitAgent, usesRealTime: (): boolean => kind === "real time" };
}
