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

export const standardDeadlines: Deadlines = { connectMs: 5000, headMs: 35_000, silenceMs: 15_000, exchangeMs: 60_000 };

/** The tighter of two deadlines, part by part. */
export const tighter = (
  standing: Deadlines,
  { connectMs, headMs, silenceMs, exchangeMs }: Partial<Deadlines>,
): Deadlines => ({
  connectMs: Math.min(standing.connectMs, connectMs ?? Infinity),
  headMs: Math.min(standing.headMs, headMs ?? Infinity),
  silenceMs: Math.min(standing.silenceMs, silenceMs ?? Infinity),
  exchangeMs: Math.min(standing.exchangeMs, exchangeMs ?? Infinity),
});
