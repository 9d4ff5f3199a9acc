/** How long the harness waits for each part of an exchange, in milliseconds. */
export interface Deadlines {
  readonly connectMs: number;
  /** From sending to the response's head. Above the 30 seconds that an agent's deployment has by default. */
  readonly headMs: number;
  /** Between two pieces of a body, or two events of a stream. */
  readonly silenceMs: number;
  /** The whole exchange. */
  readonly exchangeMs: number;
}

export const defaultDeadlines: Deadlines = { connectMs: 5000, headMs: 35_000, silenceMs: 15_000, exchangeMs: 50_000 };

/** Answers such as 103 may come before the one that counts, but not without end. */
export const maxInterim = 100;
export const tooManyInterim = `more than ${maxInterim} interim answers (1xx)`;

/** The tighter of two deadlines, part by part. */
export const tighterDeadlines = (
  standing: Deadlines,
  { connectMs, headMs, silenceMs, exchangeMs }: Partial<Deadlines>,
): Deadlines => ({
  connectMs: Math.min(standing.connectMs, connectMs ?? Infinity),
  headMs: Math.min(standing.headMs, headMs ?? Infinity),
  silenceMs: Math.min(standing.silenceMs, silenceMs ?? Infinity),
  exchangeMs: Math.min(standing.exchangeMs, exchangeMs ?? Infinity),
});

/** The deadlines of one exchange under way. */
export interface DeadlineWatch {
  readonly headArrived: () => void;
  readonly pieceArrived: () => void;
  /** Stops the exchange; the first reason counts. */
  readonly stop: (reason: string) => void;
  /** Why it was stopped: the deadline that passed, or `us` where it was closed on purpose. */
  readonly reason: () => string | null;
  /** To be called when the exchange is over. */
  readonly end: () => void;
}

/** @param onStop ends the exchange, where a deadline passes or it is stopped. */
export function watchDeadlines(
  { headMs, silenceMs, exchangeMs }: Deadlines,
  onStop: (reason: string) => void,
): DeadlineWatch {
  let reason: string | null = null;
  const stop = (why: string): void => {
    reason ??= why;
    onStop(why);
  };
  const whole = setTimeout(() => stop(`not over after ${exchangeMs / 1000} s`), exchangeMs);
  let part = setTimeout(() => stop(`no response head within ${headMs / 1000} s`), headMs);
  return {
    headArrived: () => {
      clearTimeout(part);
      part = setTimeout(() => stop(`silent for ${silenceMs / 1000} s in mid-body`), silenceMs);
    },
    pieceArrived: () => part.refresh(),
    stop,
    reason: () => reason,
    end: () => {
      clearTimeout(whole);
      clearTimeout(part);
    },
  };
}
