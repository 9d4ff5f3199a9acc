import { need, SkipError } from "../skip-reason.ts";

/** A wait that does not fit what is left of the real waiting that a run may do, or that the target's clock refused. */
export class WaitRefused extends SkipError {
  override readonly name = "WaitRefused";
}

/** Real waiting that a run has left, in milliseconds. Waits that overlap are paid for once. */
export interface WaitBudget {
  readonly canWait: (ms: number) => boolean;
  /**
   * Takes a wait that begins now.
   * @throws {WaitRefused} where too little is left
   */
  readonly take: (ms: number, why: string) => void;
  /** Keeps so much for what comes later; replaces what was kept before. */
  readonly reserve: (ms: number) => void;
  readonly takenMs: () => number;
}

/** Two windows of a minute, each with the second that whole-second headers may hide, are to fit two minutes. */
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
