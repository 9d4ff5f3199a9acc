/** A wait that does not fit what is left of `--max-wait`, or that the target's clock refused; what needed it is skipped. */
export class WaitRefused extends Error {
  override readonly name = "WaitRefused";
  /** What would enable the wait; `null` where the message says it. */
  readonly needs: string | null;

  constructor(message: string, needs: string | null = "a longer `--max-wait`") {
    super(message);
    this.needs = needs;
  }
}

/** Real waiting that a run has left, in milliseconds. Waits that overlap are paid for once. */
export interface WaitBudget {
  readonly affords: (ms: number) => boolean;
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

export function waitBudget(maxWaitMs: number, now: () => number): WaitBudget {
  let takenMs = 0;
  let reservedMs = 0;
  let waitingUntilMs = 0;
  const costOf = (ms: number): number => Math.max(0, now() + ms - Math.max(now(), waitingUntilMs));
  const affords = (ms: number): boolean => takenMs + costOf(ms) + reservedMs <= maxWaitMs + slackMs;
  const take = (ms: number, why: string): void => {
    if (!affords(ms)) {
      const left = seconds(maxWaitMs - takenMs - reservedMs);
      throw new WaitRefused(`${why}: ${seconds(ms)} to wait, and --max-wait leaves ${left}`);
    }
    takenMs += costOf(ms);
    waitingUntilMs = Math.max(waitingUntilMs, now() + ms);
  };
  return {
    affords,
    take,
    reserve: (ms) => {
      reservedMs = ms;
    },
    takenMs: () => takenMs,
  };
}

const seconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1000))} s`;
