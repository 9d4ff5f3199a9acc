import { identityOf } from "../../evidence/client-call.ts";
import { endOf, type Failure, failureOf } from "./failures.ts";
import type { JudgedCall, JudgedRun } from "./probes.ts";

/** The equal requests of one run: same method, path, query and body. */
export interface Group {
  /** In the order of their arrival. */
  readonly calls: readonly JudgedCall[];
  /** How often the client sends the request without trouble; at least once. */
  readonly planned: number;
  /** Number of requests that must be repeats, because the client sent more than without trouble. */
  readonly repeats: number;
  readonly run: JudgedRun;
}

/** Groups the requests of runs under trouble, and counts the repeats by the run without trouble. */
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

const identify = ({ exchange }: JudgedCall): string => identityOf(exchange.request);

/** A call that failed, and when the client may repeat it. */
export interface FailedCall {
  readonly call: JudgedCall;
  readonly failure: Failure;
  readonly readyMs: number;
}

/** Timers may be early by some milliseconds, and a client may round a wait. */
const toleranceMs = 100;

export const failedCallsOf = ({ calls }: Group): FailedCall[] =>
  calls.flatMap((call) => {
    const failure = failureOf(call);
    if (failure === null) return [];
    return [{ call, failure, readyMs: endOf(call) + Math.max(0, failure.waitMs - toleranceMs) }];
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

/** The first request after a failure that came too early. */
export function earlyRepeat({ calls }: Group, failed: FailedCall): JudgedCall | undefined {
  return calls.find(({ exchange: { sentMs } }) => sentMs > endOf(failed.call) && sentMs < failed.readyMs);
}

/**
 * The waits before the retries of 5xx responses, in milliseconds: those of one request, in order. Empty if the client
 * sends the request several times anyway, or sent it again before the response had ended.
 */
export function retryWaitsOf({ calls, planned }: Group): number[] {
  if (planned > 1) return [];
  const waits = calls.slice(1).flatMap(({ exchange }, at) => {
    const before = calls[at];
    return before === undefined || failureOf(before)?.kind !== "5xx" ? [] : [exchange.sentMs - endOf(before)];
  });
  return waits.some((ms) => ms < 0) ? [] : waits;
}
