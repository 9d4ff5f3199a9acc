import { setTimeout as sleep } from "node:timers/promises";

type AgentClockKind = "unknown" | "real time" | "test clock";

/** Maximum real time to wait for an agent, depending on its clock. */
const maxRealWaitMs: Readonly<Record<AgentClockKind, number>> = { unknown: 3000, "real time": 30_000, "test clock": 0 };
/** An agent that takes at least this long uses real time. A shorter response time may be that of the network. */
const minConclusiveMs = 900;
const pollMs = 50;

/**
 * Finds out whether agents follow the target's test clock. In many deployments the clock moves only the rate-limit
 * windows, while agents take real time.
 *
 * @param agentsFollow whether the user states that agents follow the test clock
 * @param pause sleeps in real time, in milliseconds
 */
export function createAgentClock(agentsFollow: boolean, pause: (ms: number) => Promise<unknown> = sleep) {
  let kind: AgentClockKind = agentsFollow ? "test clock" : "unknown";
  let advancing: Promise<unknown> = Promise.resolve();

  /** Returns the real time until the promise settles; `null` if it does not settle within `ms`. */
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
   * Waits for an agent's response. If agents may use real time, first waits in real time. Then advances the test clock,
   * for one caller at a time.
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
    // An earlier response looked like real time, but a queue or a busy machine had delayed it: advancing the clock did
    // make this agent respond.
    if (usedRealTime && (await settlesAfter(advanced, maxRealWaitMs["unknown"])) !== null) kind = "test clock";
    return advanced;
  };

  return { awaitAgent, usesRealTime: (): boolean => kind === "real time" };
}
