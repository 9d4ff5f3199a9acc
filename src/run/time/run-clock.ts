import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../base/errors.ts";
import { ControlCallFailed } from "../../target/control-calls.ts";
import type { ClockControl } from "../../target/target.ts";
import { need, WaitRefused } from "../skip-reason.ts";

type AgentClockKind = "unknown" | "real time" | "test clock";

/** Maximum wait in real time for an agent's response. After this wait, the run advances the test clock. */
const maxRealWaitMs: Readonly<Record<AgentClockKind, number>> = { unknown: 3000, "real time": 30_000, "test clock": 0 };
/** A response that takes at least this long shows that its agent uses real time. Network delays are shorter. */
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

/** The clock of a run. All times are in milliseconds. */
export interface RunClock {
  readonly now: () => number;
  /** Total time by which the target's test clock has been advanced. */
  readonly clockOffsetMs: () => number;
  /** Like `clockOffsetMs`, but includes advances that are still running, or that may have taken place though they failed. */
  readonly maxClockOffsetMs: () => number;
  /**
   * Real time that all advances of the test clock took in total. If the target's clock stands still during advances, it
   * falls behind `targetMs` by this time.
   */
  readonly advancingMs: () => number;
  /** Real time since the start of the run, plus all completed advances of the target's test clock. */
  readonly targetMs: () => number;
  readonly waitedMs: () => number;
  /** Keeps `ms` of the run's waiting time free for later probes. Each call replaces the earlier value. */
  readonly reserve: (ms: number) => void;
  /** Whether the target has a test clock. */
  readonly canAdvance: boolean;
  /** Why the run advances the test clock no more; `null` while it does. */
  readonly clockProblem: () => string | null;
  /** Real time to wait for deliveries and other effects after an advance of the test clock. 0 without a test clock. */
  readonly settleMs: number;
  readonly agentsFollow: boolean;
  readonly canWait: (ms: number) => boolean;
  /** Advances the test clock or, without one, sleeps. Throws `WaitRefused` if too little waiting time is left. */
  readonly passTime: (ms: number, why: string) => Promise<void>;
  /** Sleeps in real time, without using up the run's waiting time. Rejects if the run is stopped. */
  readonly sleepReal: (ms: number) => Promise<void>;
  /** Sleeps with `RunClockOptions.timers`, which tests can simulate. To wait for the network, use `sleepReal`. */
  readonly sleep: (ms: number) => Promise<void>;
  /**
   * Advances the test clock until the promise settles, by at most `maxMs` in total. Sleeps `restMs` in real time before
   * each step of `stepMs`. Returns the promise. Without a test clock, only returns the promise.
   */
  readonly passUntil: <T>(promise: Promise<T>, maxMs: number, stepMs?: number, restMs?: number) => Promise<T>;
  /** Like `passUntil`, but first waits up to 30 s in real time. Some agents ignore the test clock. */
  readonly awaitAgent: <T>(promise: Promise<T>, maxMs: number, stepMs?: number, restMs?: number) => Promise<T>;
  /** Whether responses showed that agents use real time although the target has a test clock. */
  readonly agentsUseRealTime: () => boolean;
}

/** Returns a clock that leaves `ms` of the run's waiting time to other probes. A test clock's advances use none. */
export function withReservedWait(ms: number, time: RunClock): RunClock {
  if (ms === 0 || time.canAdvance) return time;
  const canWait = (waitMs: number): boolean => time.canWait(waitMs + ms);
  const passTime: RunClock["passTime"] = async (waitMs, why) => {
    if (waitMs > 0 && !canWait(waitMs))
      throw new WaitRefused(
        { why: "no time left", takes: `it needs ${Math.ceil(waitMs / 1000)} s of waiting` },
        need("maxWaitMs"),
      );
    return time.passTime(waitMs, why);
  };
  return { ...time, canWait, passTime };
}

interface RunClockOptions {
  readonly clock: ClockControl | null;
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Called when the run begins to wait in real time. */
  readonly onWait?: ((ms: number, why: string) => void) | undefined;
  readonly timers?: Timers | undefined;
}

export interface Timers {
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const machineTimers: Timers = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

export function startRunClock({ clock, maxWaitMs, signal, onWait, timers = machineTimers }: RunClockOptions): RunClock {
  const started = timers.now();
  const now = (): number => timers.now() - started;
  const targetClock = clock === null ? null : startTargetClock(clock, now, (ms) => timers.sleep(ms, signal));
  const budget = createWaitBudget(maxWaitMs, now);
  const clockOffsetMs = (): number => targetClock?.offsetMs() ?? 0;

  const passTime = async (ms: number, why: string): Promise<void> => {
    signal.throwIfAborted();
    if (ms <= 0) return;
    if (targetClock !== null) return targetClock.advance(ms);
    budget.take(ms, why);
    onWait?.(ms, why);
    await timers.sleep(ms, signal);
  };

  const agents = createAgentClock(clock?.agentsFollow ?? false);
  const passUntil: RunClock["passUntil"] = (promise, maxMs, stepMs = defaultStepMs, restMs = defaultRestMs) =>
    targetClock === null ? promise : advanceUntil(promise, maxMs, { stepMs, restMs }, targetClock.advance);

  return {
    now,
    clockOffsetMs,
    maxClockOffsetMs: () => targetClock?.maxOffsetMs() ?? 0,
    advancingMs: () => targetClock?.advancingMs() ?? 0,
    targetMs: () => now() + clockOffsetMs(),
    canAdvance: targetClock !== null,
    clockProblem: () => targetClock?.problem() ?? null,
    settleMs: clock?.settleMs ?? 0,
    agentsFollow: clock?.agentsFollow ?? false,
    waitedMs: budget.takenMs,
    reserve: budget.reserve,
    canWait: (ms) => targetClock !== null || budget.canWait(ms),
    passTime,
    sleepReal: (ms) => sleep(ms, undefined, { signal }),
    sleep: (ms) => timers.sleep(ms, signal),
    passUntil,
    awaitAgent: (promise, ...steps) =>
      targetClock === null ? promise : agents.awaitAgent(promise, () => passUntil(promise, ...steps)),
    agentsUseRealTime: agents.usesRealTime,
  };
}

const defaultStepMs = 500;
/** Default real time that `passUntil` waits before each clock advance. During this time, responses can arrive. */
const defaultRestMs = 2;

async function advanceUntil<T>(
  promise: Promise<T>,
  maxMs: number,
  { stepMs, restMs }: { readonly stepMs: number; readonly restMs: number },
  advance: (ms: number) => Promise<void>,
): Promise<T> {
  let settled = false;
  const mark = (): void => {
    settled = true;
  };
  promise.then(mark, mark);
  for (let passedMs = 0; passedMs < maxMs; passedMs += stepMs) {
    await sleep(restMs);
    if (settled) break;
    await advance(stepMs);
  }
  return promise;
}

/**
 * Waits are allowed to exceed `maxWaitMs` by this time. For example, waiting for two one-minute windows takes slightly
 * longer than two minutes.
 */
const budgetToleranceMs = 2000;

/** Counts the run's waiting time, in milliseconds of real time. Waits that overlap count once. */
function createWaitBudget(maxWaitMs: number, now: () => number) {
  let [takenMs, reservedMs, waitingUntilMs] = [0, 0, 0];
  const costOf = (ms: number): number => Math.max(0, now() + ms - Math.max(now(), waitingUntilMs));
  const canWait = (ms: number): boolean => takenMs + costOf(ms) + reservedMs <= maxWaitMs + budgetToleranceMs;
  return {
    canWait,
    take: (ms: number, why: string): void => {
      if (!canWait(ms)) {
        const leftMs = maxWaitMs - takenMs - reservedMs;
        throw new WaitRefused({ why: "too long a wait", for: why, ms, leftMs }, need("maxWaitMs"));
      }
      takenMs += costOf(ms);
      waitingUntilMs = Math.max(waitingUntilMs, now() + ms);
    },
    reserve: (ms: number): void => {
      reservedMs = ms;
    },
    takenMs: (): number => takenMs,
  };
}

/** Time for which a failed advance is repeated. A target can be unavailable for some seconds while it restarts. */
const retryForMs = 8000;
const retryPauseMs = 1000;
/**
 * Maximum total of advances that may have taken place though they failed. Checks allow for a second between two clocks.
 * Beyond it, the run no longer knows the target's time, and the times in responses show only whole seconds.
 */
const maxUnknownMs = 1000;

/** Advances a test clock. Repeats a failed advance if the target's time stays known well enough. */
function startTargetClock(control: ClockControl, now: () => number, pause: (ms: number) => Promise<unknown>) {
  let [offsetMs, underwayMs, unknownMs, advancingMs] = [0, 0, 0, 0];
  let problem: string | null = null;
  let advancing: Promise<void> = Promise.resolve();

  const keepTrying = async (ms: number, untilMs: number): Promise<void> => {
    try {
      await control.advance(ms);
    } catch (error) {
      const call = error instanceof ControlCallFailed ? error : null;
      if (call?.isCarriedOut !== "no") unknownMs += ms;
      const isRefused = call?.isCarriedOut === "no" && call.isSent;
      if (unknownMs > maxUnknownMs) problem = noMoreAdvances("the target's time is unknown", error);
      else if (!isRefused && now() >= untilMs) problem = noMoreAdvances("the test clock cannot be reached", error);
      if (isRefused || problem !== null) throw new WaitRefused(problem ?? messageOf(error));
      await pause(retryPauseMs);
      await keepTrying(ms, untilMs);
    }
  };

  const advanceOnce = async (ms: number): Promise<void> => {
    if (problem !== null) throw new WaitRefused(problem);
    const startedMs = now();
    underwayMs = ms;
    try {
      await keepTrying(ms, startedMs + retryForMs);
      offsetMs += ms;
    } finally {
      underwayMs = 0;
      advancingMs += now() - startedMs;
    }
  };

  return {
    advance: (ms: number): Promise<void> => {
      const ended = advancing.then(() => advanceOnce(ms));
      advancing = ended.catch(() => {});
      return ended;
    },
    problem: (): string | null => problem,
    offsetMs: (): number => offsetMs,
    maxOffsetMs: (): number => offsetMs + unknownMs + underwayMs,
    advancingMs: (): number => advancingMs,
  };
}

const noMoreAdvances = (why: string, error: unknown): string =>
  `${why}, so the run advanced its clock no more: ${messageOf(error)}`;
