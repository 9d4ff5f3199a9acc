/** Maximum waiting times for the parts of an exchange (a request and its response), in milliseconds. */
export interface Deadlines {
  readonly connectMs: number;
  /** Maximum time until the head of the response. The default exceeds an agent's default timeout of 30 s. */
  readonly headMs: number;
  /** Maximum pause between two chunks of the response body. */
  readonly silenceMs: number;
  readonly exchangeMs: number;
}

export const defaultDeadlines: Deadlines = { connectMs: 5000, headMs: 35_000, silenceMs: 15_000, exchangeMs: 50_000 };

/** Maximum number of interim responses (such as status 103) before the final one. */
export const maxInterimResponses = 100;
export const tooManyInterim = `more than ${maxInterimResponses} interim answers (1xx)`;

/** Combines two sets of deadlines. Of each deadline, takes the shorter one. */
export const tighterDeadlines = (
  standing: Deadlines,
  { connectMs, headMs, silenceMs, exchangeMs }: Partial<Deadlines>,
): Deadlines => ({
  connectMs: Math.min(standing.connectMs, connectMs ?? Infinity),
  headMs: Math.min(standing.headMs, headMs ?? Infinity),
  silenceMs: Math.min(standing.silenceMs, silenceMs ?? Infinity),
  exchangeMs: Math.min(standing.exchangeMs, exchangeMs ?? Infinity),
});

/** Returns deadlines that allow at least `minHeadMs` for the head of the response. */
export const deadlinesWithHead = (deadlines: Deadlines, minHeadMs: number): Deadlines =>
  minHeadMs <= deadlines.headMs
    ? deadlines
    : { ...deadlines, headMs: minHeadMs, exchangeMs: Math.max(deadlines.exchangeMs, minHeadMs + deadlines.silenceMs) };

export type DeadlineWatch = ReturnType<typeof watchDeadlines>;

/** Watches deadlines. Calls `onStop`, which must abort the exchange, when one passes or `stop` is called. */
export function watchDeadlines({ headMs, silenceMs, exchangeMs }: Deadlines, onStop: (reason: string) => void) {
  let reason: string | null = null;
  const stop = (why: string): void => {
    reason ??= why;
    onStop(why);
  };
  const whole = setTimeout(() => stop(`not over after ${exchangeMs / 1000} s`), exchangeMs);
  let part = setTimeout(() => stop(`no response head within ${headMs / 1000} s`), headMs);
  return {
    headArrived: (): void => {
      clearTimeout(part);
      part = setTimeout(() => stop(`silent for ${silenceMs / 1000} s in mid-body`), silenceMs);
    },
    pieceArrived: (): void => void part.refresh(),
    stop,
    /** Returns why the exchange was ended early: a deadline, or `us` for the harness; `null` if it was not. */
    reason: (): string | null => reason,
    end: (): void => {
      clearTimeout(whole);
      clearTimeout(part);
    },
  };
}
