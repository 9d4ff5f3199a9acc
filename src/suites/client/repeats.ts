import { requestIdentity } from "../../evidence/client-call.ts";
import { endMsOf, type Failure, failureOf } from "./failures.ts";
import type { SignedCall, JudgedRun } from "./probes.ts";

/** All requests of one run that are equal in method, path, query and body. */
export interface EqualRequests {
  /** The calls in the order of their arrival. */
  readonly calls: readonly SignedCall[];
  /** Number of these requests in a run without trouble, at least 1. They are sent on purpose, not as retries. */
  readonly planned: number;
  /** Number of requests beyond `planned`. These are retries. */
  readonly repeats: number;
  readonly run: JudgedRun;
}

/** Groups the equal requests of each troubled run. The plain runs show how many of a group are not retries. */
export function groupEqualRequests(plain: readonly JudgedRun[], troubled: readonly JudgedRun[]): EqualRequests[] {
  const plainCalls = Map.groupBy(
    plain.flatMap(({ calls }) => calls),
    identityOfCall,
  );
  return troubled.flatMap((run) =>
    [...Map.groupBy(run.calls, identityOfCall)].map(([identity, calls]): EqualRequests => {
      const planned = Math.max(1, plainCalls.get(identity)?.length ?? 0);
      return { calls, planned, repeats: Math.max(0, calls.length - planned), run };
    }),
  );
}

const identityOfCall = ({ exchange }: SignedCall): string => requestIdentity(exchange.request);

/** A failed request, and the earliest time at which the client may repeat it. */
export interface FailedCall {
  readonly call: SignedCall;
  readonly failure: Failure;
  readonly readyMs: number;
}

/** How much too early a repeat may be. Timers fire some milliseconds early, and a client may round a wait. */
const toleranceMs = 100;

export const failedCallsOf = ({ calls }: EqualRequests): FailedCall[] =>
  calls.flatMap((call) => {
    const failure = failureOf(call);
    if (failure === null) return [];
    return [{ call, failure, readyMs: failure.fromMs + Math.max(0, failure.waitMs - toleranceMs) }];
  });

/** Whether each retry can be matched with a failure of an equal request whose wait was over when the retry was sent. */
export function areRepeatsExplained(group: EqualRequests): boolean {
  const failed = failedCallsOf(group).toSorted((one, other) => one.readyMs - other.readyMs);
  let [ready, explained] = [0, 0];
  for (const { exchange } of group.calls) {
    while (ready < failed.length && (failed[ready]?.readyMs ?? Infinity) <= exchange.sentMs) ready += 1;
    if (explained < ready) explained += 1;
  }
  return explained >= Math.min(group.repeats, failed.length);
}

/** Returns the first request that the client sent after the failure but before the failure's wait was over. */
export function firstEarlyRepeat({ calls }: EqualRequests, failed: FailedCall): SignedCall | undefined {
  return calls.find(({ exchange: { sentMs } }) => sentMs > failed.failure.fromMs && sentMs < failed.readyMs);
}

/** Returns the times between 5xx responses and the next equal request. None if they overlap or repeat on purpose. */
export function waitsBeforeRetries({ calls, planned }: EqualRequests): number[] {
  if (planned > 1) return [];
  const waits = calls.slice(1).flatMap(({ exchange }, at) => {
    const before = calls[at];
    return before === undefined || failureOf(before)?.kind !== "5xx" ? [] : [exchange.sentMs - endMsOf(before)];
  });
  return waits.some((ms) => ms < 0) ? [] : waits;
}
