import { setTimeout as sleep } from "node:timers/promises";

/**
 * Finds out whether the agents of a target with a test clock follow it. Vendors often advance only the windows of
 * their limits. Then agents still take real time.
 */
export interface AgentClock {
  /** Whether an agent finished without an advance of the clock. */
  readonly isReal: () => boolean;
  /**
   * Waits for something that an agent does. Waits in real time first if that may be enough, then advances the clock,
   * one caller at a time.
   */
  readonly awaitAgent: <T>(promise: Promise<T>, moveOn: () => Promise<T>) => Promise<T>;
}

type Lives = "not known" | "in real time" | "by the clock";

/** Real time to wait for an agent, by what is known about its clock. */
const patienceMs: Readonly<Record<Lives, number>> = { "not known": 3000, "in real time": 30_000, "by the clock": 0 };
/** A shorter time may be the network's alone, so it proves nothing. */
const tellingMs = 900;
const lookEveryMs = 50;

/**
 * @param agentsFollow whether the user states that agents follow the test clock
 * @param pause sleeps in real time, in milliseconds
 */
export function createAgentClock(agentsFollow: boolean, pause: (ms: number) => Promise<unknown> = sleep): AgentClock {
  let lives: Lives = agentsFollow ? "by the clock" : "not known";
  let moving: Promise<unknown> = Promise.resolve();

  /** Real time until the promise settles. `null` if it does not within `ms`. */
  const settlesAfter = async (promise: Promise<unknown>, ms: number): Promise<number | null> => {
    const settled = promise.then(
      () => true,
      () => true,
    );
    for (let waitedMs = 0; waitedMs < ms; waitedMs += lookEveryMs)
      if (await Promise.race([settled, pause(lookEveryMs).then(() => false)])) return waitedMs;
    return null;
  };

  const awaitAgent: AgentClock["awaitAgent"] = async (promise, moveOn) => {
    const endedAfterMs = await settlesAfter(promise, patienceMs[lives]);
    if (endedAfterMs !== null) {
      if (endedAfterMs >= tellingMs) lives = "in real time";
      return promise;
    }
    const wasReal = lives === "in real time";
    if (!wasReal) lives = "by the clock";
    const moved = moving.then(moveOn);
    moving = moved.catch(() => {});
    // The earlier late response was delayed by a queue or a busy machine, not by the agent.
    if (wasReal && (await settlesAfter(moved, patienceMs["not known"])) !== null) lives = "by the clock";
    return moved;
  };

  return { isReal: () => lives === "in real time", awaitAgent };
}
