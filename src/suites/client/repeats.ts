import { identityOf } from "../../evidence/client-call.ts";
import { endOf, type Failure, failureOf } from "./failures.ts";
import type { SignedCall, JudgedRun } from "./probes.ts";

/** All requests of one run that are equal in method, path, query and body. */
export interface Group {
  /** The calls in the order of their arrival. */
  readonly calls: readonly SignedCall[];
  /** Number of these requests that the client sends in a run without trouble; at least one. */
  readonly planned: number;
  /** Number of requests beyond `planned`, which must be repeats. */
  readonly repeats: number;
  readonly run: JudgedRun;
}

/** Groups the equal requests of runs with trouble. The runs without trouble show how many of them are repeats. */
export function groupsOf(plain: readonly JudgedRun[], troubled: readonly JudgedRun[]): Group[] {
  const countOf = Map.groupBy(
    plain.flatMap(({ calls }) => calls),
    identify,
  );
  return troubled.flatMap((run) =>
    [...Map.groupBy(run.calls, identify)].map(([identity, calls]): Group => {
      const planned = Math.max(1, countOf.get(identity)?.length ?? 0);
      return { calls, planned, repeats: Math.max(0, calls.length - planned), run };
    }),
  );
}

const identify = ({ exchange }: SignedCall): string => identityOf(exchange.request);

/** A call that failed, and when the client may repeat it. */
export interface FailedCall {
  readonly call: SignedCall;
  readonly failure: Failure;
  readonly readyMs: number;
}

/** Tolerance: timers may be early by some milliseconds, and a client may round a wait. */
const toleranceMs = 100;

export const failedCallsOf = ({ calls }: Group): FailedCall[] =>
  calls.flatMap((call) => {
    const failure = failureOf(call);
    if (failure === null) return [];
    return [{ call, failure, readyMs: failure.fromMs + Math.max(0, failure.waitMs - toleranceMs) }];
  });

/**
 * Whether some order of events explains the repeats: each repeat follows a failure of its own, after the wait that the
 * failure asked for. Requests that are no repeats may come at any time.
 */
export function isExplained(group: Group): boolean {
  const failed = failedCallsOf(group).toSorted((one, other) => one.readyMs - other.readyMs);
  let [ready, explained] = [0, 0];
  for (const { exchange } of group.calls) {
    while (ready < failed.length && (failed[ready]?.readyMs ?? Infinity) <= exchange.sentMs) ready += 1;
    if (explained < ready) explained += 1;
  }
  return explained >= Math.min(group.repeats, failed.length);
}

/** Returns the first request after a failure that came too early. */
export function earlyRepeat({ calls }: Group, failed: FailedCall): SignedCall | undefined {
  return calls.find(({ exchange: { sentMs } }) => sentMs > failed.failure.fromMs && sentMs < failed.readyMs);
}

/**
 * Returns the waits of one request before the retries of 5xx responses, in milliseconds and in order. Empty if the
 * client sends the request several times anyway, or sent it again before the response had ended.
 */
export function retryWaitsOf({ calls, planned }: Group): number[] {
  if (planned > 1) return [];
  const waits = calls.slice(1).flatMap(({ exchange }, at) => {
    const before = calls[at];
    return before === undefined || failureOf(before)?.kind !== "5xx" ? [] : [exchange.sentMs - endOf(before)];
  });
  return waits.some((ms) => ms < 0) ? [] : waits;
}
