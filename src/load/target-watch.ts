import { setTimeout as sleep } from "node:timers/promises";
import type { Network } from "../base/network/network.ts";
import { acceptsConnection } from "../wire/accepts-connection.ts";
import type { LoadProgress } from "./engine.ts";
import { epochMs } from "./load-sample.ts";
import { describeOutage, type LoadOutage } from "./judge/target-loss.ts";

export interface TargetWatch {
  /** Aborts together with the caller's signal. Also aborts when the target dies, with the reason {@link TargetDied}. */
  readonly signal: AbortSignal;
  /**
   * Receives the current request counts. If the number of failed requests has grown, the watch tries to connect at
   * once.
   */
  readonly observe: (progress: LoadProgress) => void;
  /**
   * Ends the watch and returns the first outage. If the target is unreachable, first waits until it is back or counts
   * as dead.
   */
  readonly end: () => Promise<LoadOutage | null>;
}

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly connect: () => Promise<boolean>;
}

const connectEveryMs = 2000;
const retryWhileAwayMs = 250;
/** A target counts as dead if it accepts no connection and sends no response for this many ms. */
const deadAfterMs = 8000;
/** A connection that fails within this time was refused. A later failure may mean that the server is busy. */
const maxRefusalMs = 1500;

/** An error that ends the load: the target stays away, or its test clock can no longer be advanced. */
export class TargetDied extends Error {
  override name = "TargetDied";
}

export const acceptsConnectionTo =
  ({ baseUrl, network }: { readonly baseUrl: string; readonly network: Network }): WatchOptions["connect"] =>
  () =>
    acceptsConnection(baseUrl, network);

interface OngoingOutage {
  readonly aliveMs: number;
  readonly failedMs: number;
  /** When the load last got a response during the outage, e.g. over an open connection. `failedMs` if it got none. */
  respondedMs: number;
  readonly isRefused: boolean;
}

/** Starts a watch, which tries to connect every two seconds, and more often while the target is away. */
export function startTargetWatch({ signal, connect }: WatchOptions): TargetWatch {
  const died = new AbortController();
  const either = AbortSignal.any([signal, died.signal]);
  let aliveMs = epochMs();
  let failing: OngoingOutage | null = null;
  let first: LoadOutage | null = null;
  let last = { answered: 0, failed: 0 };
  let attempt: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  const succeed = (): void => {
    const nowMs = epochMs();
    if (failing !== null && (failing.isRefused || failing.respondedMs === failing.failedMs))
      first ??= { aliveMs: failing.aliveMs, failedMs: failing.failedMs, backMs: nowMs };
    failing = null;
    aliveMs = nowMs;
  };
  const fail = (failedMs: number): void => {
    const nowMs = epochMs();
    failing ??= { aliveMs, failedMs, respondedMs: failedMs, isRefused: nowMs - failedMs < maxRefusalMs };
    if (nowMs - failing.respondedMs < deadAfterMs || either.aborted) return;
    first ??= { aliveMs: failing.aliveMs, failedMs: failing.failedMs, backMs: null };
    died.abort(new TargetDied(describeOutage({ ...failing, backMs: null })));
  };
  const tryOnce = async (): Promise<void> => {
    const startedMs = epochMs();
    return (await connect()) ? succeed() : fail(startedMs);
  };
  const connectNow = (): Promise<void> => {
    clearTimeout(timer);
    return (attempt ??= tryOnce().finally(() => {
      attempt = null;
      schedule();
    }));
  };
  const schedule = (): void => {
    clearTimeout(timer);
    if (!either.aborted)
      timer = setTimeout(() => void connectNow(), failing === null ? connectEveryMs : retryWhileAwayMs);
  };
  const isAway = (): boolean => failing !== null && !either.aborted;
  schedule();
  return {
    signal: either,
    observe: ({ admitted, refused, failed }) => {
      const answered = admitted + refused;
      if (answered > last.answered && failing !== null) failing.respondedMs = epochMs();
      if (failed > last.failed && !either.aborted) void connectNow();
      last = { answered, failed };
    },
    end: async () => {
      if (!either.aborted) await connectNow();
      while (isAway()) {
        await sleep(retryWhileAwayMs, undefined, { signal: either }).catch(() => {});
        if (isAway()) await connectNow();
      }
      clearTimeout(timer);
      return first;
    },
  };
}

/** A load does not count as stalled before it is this many ms over its expected duration. */
const graceMs = 60_000;
/** After {@link graceMs}, a load counts as stalled if no 2xx or 429 arrives for this many ms. */
const maxSilentMs = 45_000;

class StalledError extends Error {
  override name = "StalledError";
}

/** Starts a timeout. Its `signal` aborts a load that takes too long because the target no longer responds. */
export function startStallTimeout(stop: AbortSignal) {
  const stalled = new AbortController();
  let answered = 0;
  let answeredMs = 0;
  return {
    signal: AbortSignal.any([stop, stalled.signal]),
    observe: ({ elapsedMs, expectedMs, admitted, refused }: LoadProgress): void => {
      if (admitted + refused !== answered) {
        answered = admitted + refused;
        answeredMs = elapsedMs;
      }
      const silentMs = elapsedMs - answeredMs;
      if (elapsedMs > expectedMs + graceMs && silentMs > maxSilentMs && !stalled.signal.aborted)
        stalled.abort(new StalledError(`no 200 and no 429 for ${Math.round(silentMs / 1000)} s`));
    },
  };
}

export const interruptedByUser = "interrupted";

export function stopReason(signal: AbortSignal): string | null {
  if (!signal.aborted) return null;
  const { reason } = signal;
  return reason instanceof StalledError || reason instanceof TargetDied ? reason.message : interruptedByUser;
}
