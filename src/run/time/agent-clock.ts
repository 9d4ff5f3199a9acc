import { setTimeout as sleep } from "node:timers/promises";

type AgentClockKind = "unknown" | "real time" | "test clock";

/**
 * How long to wait for an agent in real time before the test clock is advanced, by what is known about the agents'
 * clock.
 */
const maxRealWaitMs: Readonly<Record<AgentClockKind, number>> = { unknown: 3000, "real time": 30_000, "test clock": 0 };
/**
 * If an agent responds only after this much real time, agents count as using real time. A shorter time may be that of
 * the network.
 */
const minRealTimeMs = 900;
const pollMs = 50;

/**
 * Finds out whether agents follow the target's test clock. In many deployments the test clock affects only the
 * rate-limit windows, and agents take real time.
 *
 * @param agentsFollow whether the user states that agents follow the test clock
 * @param pause sleeps in real time, in milliseconds
 */
export function createAgentClock(agentsFollow: boolean, pause: (ms: number) => Promise<unknown> = sleep) {
  let kind: AgentClockKind = agentsFollow ? "test clock" : "unknown";
  let advancing: Promise<unknown> = Promise.resolve();

  /**
   * Waits until the promise settles. Resolves to how long that took in real time; to `null` if it does not settle
   * within `ms`.
   */
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
   * Waits for an agent's response. Unless agents are known to follow the test clock, first waits in real time. Then
   * calls `advance`, for one caller at a time.
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
    // Advancing the clock made this agent respond, so agents do follow it. The earlier response that looked like real
    // time was only delayed, for example by a busy machine.
    if (usedRealTime && (await settlesAfter(advanced, maxRealWaitMs["unknown"])) !== null) kind = "test clock";
    return advanced;
  };

  return { awaitAgent, usesRealTime: (): boolean => kind === "real time" };
}
