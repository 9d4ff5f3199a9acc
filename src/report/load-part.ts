/** Milliseconds. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Milliseconds. */
export interface Spread {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

/** One scenario on one tier by one engine: what was sent, and what it is good for. */
export interface LoadRun {
  readonly scenario: string;
  readonly title: string;
  readonly tier: string | null;
  readonly engine: string;
  readonly engineVersion: string;
  /** Parts of the load, as k6 writes them; `["0:1"]` is all of it by one process. */
  readonly segments: readonly string[];
  /** File of the load evidence, beside `report.json`. */
  readonly evidence: string;
  /** ISO 8601. */
  readonly started: string;
  readonly durationMs: number;
  /** How many milliseconds passed at the target in one of the load machine's. */
  readonly speed: number;
  /** Whether nothing had been sent with the keys before. */
  readonly isFresh: boolean;
  readonly requests: {
    readonly planned: number;
    readonly sent: number;
    /** Answers with a 2xx status. */
    readonly admitted: number;
    /** Answers with 429. */
    readonly refused: number;
    /** Answers with any other status. */
    readonly failed: number;
    /** No answer; those that the client left are not among them. */
    readonly unanswered: number;
    readonly left: number;
  };
  /** Over the whole duration, pauses included. */
  readonly perSecond: { readonly sent: number; readonly admitted: number };
  /** From sending to the answer's head, of admitted and refused requests apart; `null` where there were none. */
  readonly latencyMs: { readonly admitted: Percentiles | null; readonly refused: Percentiles | null };
  /** `null` where no stream was opened. `longestGapMs` is of each stream; `null` where the engine cannot tell. */
  readonly streams: {
    readonly count: number;
    readonly firstEventMs: Spread | null;
    readonly longestGapMs: Spread | null;
  } | null;
  readonly generator: {
    /** Requests that it could not start. */
    readonly dropped: number;
    /** Requests that it started more than 100 ms late. */
    readonly late: number;
    /** Share of one core in its most busy second; `null` where it is not known. */
    readonly busiest: number | null;
  };
  /** Why the run proves nothing, not its exact counts, or not its times; `null` where it does. */
  readonly validity: {
    readonly invalid: string | null;
    readonly counts: string | null;
    readonly pace: string | null;
  };
  /** Shapes of windows that explain all that was admitted and refused; `null` where it does not show. */
  readonly windows: string | null;
  /** Memory of the embedded server, in bytes; `null` of any other one. */
  readonly serverRssBytes: { readonly first: number; readonly last: number; readonly most: number } | null;
  readonly notes: readonly string[];
  /** Why it ended early; `null` where it did not. */
  readonly stopped: string | null;
}

/** The part of a report that tells of load. */
export interface LoadPart {
  readonly runs: readonly LoadRun[];
}
