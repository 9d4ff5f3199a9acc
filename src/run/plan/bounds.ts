import { isLoopback } from "../../base/network/network.ts";
import type { Target } from "../../target/target.ts";

/** Limits of a run: options of the library, and flags of the command line. */
export interface RunBounds {
  /** Maximum number of requests. Default: 1000 if the target is not on loopback, otherwise no limit (`null`). */
  readonly maxRequests: number | null;
  /** Maximum number of invokes, streams and queries of batches that may run an agent. Default: no limit (`null`). */
  readonly maxExecutions: number | null;
  /**
   * Largest rate limit to use up in tests, in requests per window. Using up a larger limit takes minutes. Default:
   * 5000.
   */
  readonly maxWindow: number;
  /** Maximum total time to wait for rate-limit windows to pass, in milliseconds. Default: two minutes. */
  readonly maxWaitMs: number;
  /** Maximum duration of the run in milliseconds. Default (`null`): `maxWaitMs` plus three minutes. */
  readonly maxTimeMs: number | null;
  /** Whether to send only GET requests. Checks that need other methods are skipped. Default: `false`. */
  readonly readOnly: boolean;
  /**
   * Whether to skip slow probes, such as tests of limits. If `true`, the default of `maxWaitMs` is 0. Default: `false`.
   */
  readonly fast: boolean;
  /**
   * Whether to send `X-Request-Id`, which helps to find requests in the server's logs. Requests that can run an agent
   * never carry this header. Default: `false`.
   */
  readonly requestIds: boolean;
}

/** The help text and the kind of a bound: a whole number, a duration such as `90s`, or a switch. */
type Bound = { readonly help: string } & (
  | { readonly kind: "count"; readonly min: number }
  | { readonly kind: "duration"; readonly min: number }
  | { readonly kind: "switch" }
);

/** Every bound with its help text and kind. The command line and the library use this table. */
export const boundTable: Readonly<Record<keyof RunBounds, Bound>> = {
  maxRequests: {
    kind: "count",
    min: 1,
    help: "send at most this many requests (default: 1000 if the target is not on loopback)",
  },
  maxExecutions: {
    kind: "count",
    min: 0,
    help: "run agents at most this many times: each invoke and stream may cost money",
  },
  maxWindow: { kind: "count", min: 1, help: "do not use up windows of more requests than this (default: 5000)" },
  maxWaitMs: {
    kind: "duration",
    min: 0,
    help: "total time to wait for rate-limit windows to pass; several keys wait at the same time (default: 2m)",
  },
  maxTimeMs: {
    kind: "duration",
    min: 1,
    help: "stop after this time, with a report (default: the maximum wait plus three minutes)",
  },
  readOnly: { kind: "switch", help: "send only GET requests; checks that need more are skipped" },
  fast: {
    kind: "switch",
    help: "a first result in seconds: no waiting, no retries of webhooks, no tests of limits, no generated requests",
  },
  requestIds: {
    kind: "switch",
    help: "send X-Request-Id with the run and the exchange, except with requests that may run an agent",
  },
};

export const boundNames = Object.keys(boundTable) as (keyof RunBounds)[];

export const isBound = (name: string): name is keyof RunBounds => Object.hasOwn(boundTable, name);

export const defaultBounds: RunBounds = {
  maxRequests: null,
  maxExecutions: null,
  maxWindow: 5000,
  maxWaitMs: 120_000,
  maxTimeMs: null,
  readOnly: false,
  fast: false,
  requestIds: false,
};

export const withDefaultBounds = (given: Partial<RunBounds>): RunBounds => ({
  ...defaultBounds,
  ...(given.fast === true && { maxWaitMs: 0 }),
  ...given,
});

export const maxRequestsFor = (maxRequests: number | null, { baseUrl }: Target): number =>
  maxRequests ?? (isLoopback(baseUrl) ? Number.POSITIVE_INFINITY : 1000);

const timeBesidesWaitingMs = 180_000;

export const maxRunTimeMs = ({ maxTimeMs, maxWaitMs }: Pick<RunBounds, "maxTimeMs" | "maxWaitMs">): number =>
  maxTimeMs ?? maxWaitMs + timeBesidesWaitingMs;

/** Default seed of the requests that runs generate at random. The seed is fixed, so that runs are repeatable. */
export const defaultCoverageSeed = 1;

export const minCoverageSeed = 1;

/** Returns the seed of a nightly run: the date in UTC, such as 20300205. */
export const coverageSeedOfNight = (started: Date): number =>
  Number(started.toISOString().slice(0, 10).replaceAll("-", ""));
