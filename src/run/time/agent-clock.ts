import { setTimeout as sleep } from "node:timers/promises";

/**
 * In which time the agents of a target live whose clock can be moved. Vendors move the windows of their limits, and often nothing
 * else: what an agent takes its time for then takes real time, however far the clock is moved.
 */
export interface AgentClock {
  /** Whether an agent was seen to come to its end though nobody moved the clock. */
  readonly isReal: () => boolean;
  /** Waits for what an agent does: in real time first, as long as that may bring it, then by moving the clock, one after another. */
  readonly awaitAgent: <T>(promise: Promise<T>, moveOn: () => Promise<T>) => Promise<T>;
}

type Lives = "not known" | "in real time" | "by the clock";

/** Real time that what an agent takes its time for is given, by what is known of how it lives. */
const patienceMs: Readonly<Record<Lives, number>> = { "not known": 3000, "in real time": 30_000, "by the clock": 0 };
/** What ends sooner may have taken no time but a network's. */
const tellingMs = 900;
const lookEveryMs = 50;

/**
 * @param agentsFollow somebody has said that agents live by the clock
 * @param pause lets real time pass, in milliseconds
 */
export function createAgentClock(agentsFollow: boolean, pause: (ms: number) => Promise<unknown> = sleep): AgentClock {
  let lives: Lives = agentsFollow ? "by the clock" : "not known";
  let moving: Promise<unknown> = Promise.resolve();

  /** After how much real time it settles; `null` where it does not within `ms`. */
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
    // What had come late without a move was kept by a queue, or by a busy machine.
    if (wasReal && (await settlesAfter(moved, patienceMs["not known"])) !== null) lives = "by the clock";
    return moved;
  };

  return { isReal: () => lives === "in real time", awaitAgent };
}
