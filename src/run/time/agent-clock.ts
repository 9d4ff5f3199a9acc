import { setTimeout as sleep } from "node:timers/promises";

type AgentClockKind = "unknown" | "real time" | "test clock";

/** Maximum real time to wait for an agent, depending on its clock. */
const maxRealWaitMs: Readonly<Record<AgentClockKind, number>> = { unknown: 3000, "real time": 30_000, "test clock": 0 };
/** Minimum response time that proves that the agent uses real time. The network alone may explain a shorter time. */
const minConclusiveMs = 900;
const pollMs = 50;

/**
 * Finds out whether the agents of a target with a test clock follow it. Vendors often advance only the windows of
 * their limits. Then agents still take real time.
 *
 * @param agentsFollow whether the user states that agents follow the test clock
 * @param pause sleeps in real time, in milliseconds
 */
export function createAgentClock(agentsFollow: boolean, pause: (ms: number) => Promise<unknown> = sleep) {
  let kind: AgentClockKind = agentsFollow ? "test clock" : "unknown";
  let advancing: Promise<unknown> = Promise.resolve();

  /** Real time until the promise settles. `null` if it does not within `ms`. */
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
   * Waits for something that an agent does. Waits in real time first if that may be enough, then advances the clock,
   * one caller at a time.
   */
  const awaitAgent = async <T>(promise: Promise<T>, advance: () => Promise<T>): Promise<T> => {
    const endedAfterMs = await settlesAfter(promise, maxRealWaitMs[kind]);
    if (endedAfterMs !== null) {
      if (endedAfterMs >= minConclusiveMs) kind = "real time";
      return promise;
    }
    const usedRealTime = kind === "real time";
    if (!usedRealTime) kind = "test clock";
    const advanced = advancing.then(advance);
    advancing = advanced.catch(() => {});
    // The agent does follow the test clock: a queue or a busy machine delayed its earlier response.
    if (usedRealTime && (await settlesAfter(advanced, maxRealWaitMs["unknown"])) !== null) kind = "test clock";
    return advanced;
  };

  return { awaitAgent, usesRealTime: (): boolean => kind === "real time" };
}
