import { need, SkipError } from "../skip-reason.ts";

/** The wait is longer than the waiting time that the run has left, or the target's clock refused to advance. */
export class WaitRefused extends SkipError {
  override readonly name = "WaitRefused";
}

/** The waiting time that a run has left, in milliseconds of real time. Overlapping waits count once. */
export interface WaitBudget {
  readonly canWait: (ms: number) => boolean;
  /**
   * Spends the time of a wait that begins now.
   * @throws {WaitRefused} if too little is left
   */
  readonly take: (ms: number, why: string) => void;
  /** Reserves time for later. Replaces an earlier reservation. */
  readonly reserve: (ms: number) => void;
  readonly takenMs: () => number;
}

/**
 * Tolerance, so that two windows of a minute fit into two minutes: each may last a second longer, because headers are
 * in whole seconds.
 */
const slackMs = 2000;

export function createWaitBudget(maxWaitMs: number, now: () => number): WaitBudget {
  let takenMs = 0;
  let reservedMs = 0;
  let waitingUntilMs = 0;
  const costOf = (ms: number): number => Math.max(0, now() + ms - Math.max(now(), waitingUntilMs));
  const canWait = (ms: number): boolean => takenMs + costOf(ms) + reservedMs <= maxWaitMs + slackMs;
  const take = (ms: number, why: string): void => {
    if (!canWait(ms)) {
      const leftMs = maxWaitMs - takenMs - reservedMs;
      throw new WaitRefused({ why: "too long a wait", for: why, ms, leftMs }, need("maxWaitMs"));
    }
    takenMs += costOf(ms);
    waitingUntilMs = Math.max(waitingUntilMs, now() + ms);
  };
  return {
    canWait,
    take,
    reserve: (ms) => {
      reservedMs = ms;
    },
    takenMs: () => takenMs,
  };
}
