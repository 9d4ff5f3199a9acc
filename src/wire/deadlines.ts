/** Deadlines for the parts of an HTTP request and its response. */
export interface Deadlines {
  readonly connectMs: number;
  /** Maximum time until the response head arrives. The default exceeds an agent's default timeout of 30 s. */
  readonly headMs: number;
  readonly silenceMs: number;
  readonly exchangeMs: number;
}

export const defaultDeadlines: Deadlines = { connectMs: 5000, headMs: 35_000, silenceMs: 15_000, exchangeMs: 50_000 };

/** Maximum number of interim responses, such as status 103, before the final response. */
const maxInterimResponses = 100;

export const tighterDeadlines = (
  defaults: Deadlines,
  { connectMs, headMs, silenceMs, exchangeMs }: Partial<Deadlines>,
): Deadlines => ({
  connectMs: Math.min(defaults.connectMs, connectMs ?? Infinity),
  headMs: Math.min(defaults.headMs, headMs ?? Infinity),
  silenceMs: Math.min(defaults.silenceMs, silenceMs ?? Infinity),
  exchangeMs: Math.min(defaults.exchangeMs, exchangeMs ?? Infinity),
});

export const deadlinesWithHead = (deadlines: Deadlines, minHeadMs: number): Deadlines =>
  minHeadMs <= deadlines.headMs
    ? deadlines
    : { ...deadlines, headMs: minHeadMs, exchangeMs: Math.max(deadlines.exchangeMs, minHeadMs + deadlines.silenceMs) };

export type DeadlineWatch = ReturnType<typeof watchDeadlines>;

/**
 * Starts the timers of a request's deadlines. undici enforces `connectMs`. When a deadline passes or `stop` is called,
 * calls `onStop`, which must abort the request.
 */
export function watchDeadlines({ headMs, silenceMs, exchangeMs }: Deadlines, onStop: (reason: string) => void) {
  let reason: string | null = null;
  let interimCount = 0;
  const stop = (why: string): void => {
    reason ??= why;
    onStop(why);
  };
  const whole = setTimeout(() => stop(`not over after ${exchangeMs / 1000} s`), exchangeMs);
  let part = setTimeout(() => stop(`no response head within ${headMs / 1000} s`), headMs);
  return {
    interimArrived: (): void => {
      interimCount += 1;
      if (interimCount > maxInterimResponses) stop(`more than ${maxInterimResponses} interim answers (1xx)`);
    },
    headArrived: (): void => {
      clearTimeout(part);
      part = setTimeout(() => stop(`silent for ${silenceMs / 1000} s in mid-body`), silenceMs);
    },
    pieceArrived: (): void => void part.refresh(),
    stop,
    /**
     * Returns why the request was stopped; `null` if it was not. The reason `us` means that the harness closed the
     * request on purpose.
     */
    reason: (): string | null => reason,
    end: (): void => {
      clearTimeout(whole);
      clearTimeout(part);
    },
  };
}
