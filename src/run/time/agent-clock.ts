import { setTimeout as sleep } from "node:timers/promises";

type AgentClockKind = "unknown" | "real time" | "test clock";

/** Real time to wait for an agent before the test clock is advanced, by the kind of clock that agents follow. */
const maxRealWaitMs: Readonly<Record<AgentClockKind, number>> = { unknown: 3000, "real time": 30_000, "test clock": 0 };
/**
 * An agent that responds only after this much real time follows real time, not the test clock. A shorter delay may come
 * from the network.
 */
const minRealTimeMs = 900;
const pollMs = 50;

/**
 * Creates a detector of the clock that agents follow: real time, or the test clock. On many targets, only the
 * rate-limit windows follow the test clock.
 *
 * @param agentsFollow whether the user states that agents follow the test clock
 * @param pause sleeps in real time, in milliseconds
 */
export function createAgentClock(agentsFollow: boolean, pause: (ms: number) => Promise<unknown> = sleep) {
  let kind: AgentClockKind = agentsFollow ? "test clock" : "unknown";
  let advancing: Promise<unknown> = Promise.resolve();

  /** Resolves to how long a promise took to settle, in real time; `null` if longer than `ms`. */
  const settlesAfter = async (promise: Promise<unknown>, ms: number): Promise<number | null> => {
    const settled = promise.then(
      () => true,
      () => true,
    );
    for (let waitedMs = 0; waitedMs < ms; waitedMs += pollMs)
      if (await Promise.race([settled, pause(pollMs).then(() => false)])) return waitedMs;
    return null;
  };

  /**
   * Waits for an agent's response in real time. If none arrives, calls `advance`. Several callers advance one after
   * another.
   */
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
    // The advance made this agent respond, so agents follow the test clock. An earlier response was slow for another
    // reason, and was mistaken for an agent in real time.
    if (usedRealTime && (await settlesAfter(advanced, maxRealWaitMs["unknown"])) !== null) kind = "test clock";
    return advanced;
  };

  return { awaitAgent, usesRealTime: (): boolean => kind === "real time" };
}
