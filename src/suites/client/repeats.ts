import { requestIdentity } from "../../evidence/client-call.ts";
import type { SignedCall, JudgedRun } from "./probes.ts";
import { getPath, tryParseJson } from "../../base/json.ts";
import { bodyJson, type StreamEvent, headerValues } from "../../evidence/exchange.ts";
import { retryAfterOf } from "../../rules/limits/rate-limit-info.ts";
import { isTerminal } from "../stream/events.ts";
import { hasStatus } from "../shared/response.ts";

/**
 * How a request failed, as its client sees it. `overload` is an `error` event with `retry_after`, and `stream cut` an
 * end without `done` or `error`.
 */
export interface Failure {
  readonly kind: "429" | "5xx" | "lost" | "stream error" | "overload" | "stream cut";
  readonly waitMs: number;
  /** Earliest time at which the client could know of the failure. Its wait before a retry starts here. */
  readonly fromMs: number;
}

/** Returns how a request failed; `null` for a success, a 4xx other than 429, or a client that disconnected. */
export function failureOf(call: SignedCall): Failure | null {
  const { answer } = call.exchange;
  if (call.leftMs !== null) return null;
  const fromMs = answer.endMs;
  if (answer.kind === "unanswered" || answer.ending.kind !== "complete") return { kind: "lost", waitMs: 0, fromMs };
  if (answer.status === 429)
    return { kind: "429", waitMs: (retryAfterOf(bodyJson(call.exchange)) ?? 0) * 1000, fromMs };
  if (answer.status >= 500) return { kind: "5xx", waitMs: 0, fromMs };
  return isStream(call) ? streamFailureOf(answer.events, fromMs) : null;
}

const isStream = ({ exchange }: SignedCall): boolean =>
  hasStatus(exchange, 200) &&
  headerValues(exchange, "Content-Type").some((value) => /^text\/event-stream/i.test(value));

function streamFailureOf(events: readonly StreamEvent[], endMs: number): Failure | null {
  const end = events.findLast(isTerminal);
  if (end === undefined) return { kind: "stream cut", waitMs: 0, fromMs: endMs };
  if (end.name === "done") return null;
  const seconds = getPath(tryParseJson(end.data), "retry_after");
  const fromMs = end.atMs;
  return typeof seconds === "number"
    ? { kind: "overload", waitMs: seconds * 1000, fromMs }
    : { kind: "stream error", waitMs: 0, fromMs };
}

export const endMsOf = ({ exchange: { answer } }: SignedCall): number => answer.endMs;

/** All requests of one run that are equal in method, path, query and body. */
export interface EqualRequests {
  readonly calls: readonly SignedCall[];
  /** Number of these requests that the client sends even to a server that never fails; at least 1. */
  readonly planned: number;
  readonly repeats: number;
  readonly run: JudgedRun;
}

/** Groups equal requests in runs with injected errors; `plain` runs show how many of a group are no retries. */
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

/** A failed request. `readyMs` is the earliest time at which the client may repeat it. */
interface FailedCall {
  readonly call: SignedCall;
  readonly failure: Failure;
  readonly readyMs: number;
}

/** Tolerance for early repetitions, because timers may fire early, and clients may round waits. */
const toleranceMs = 100;

export const failedCallsOf = ({ calls }: EqualRequests): FailedCall[] =>
  calls.flatMap((call) => {
    const failure = failureOf(call);
    if (failure === null) return [];
    return [{ call, failure, readyMs: failure.fromMs + Math.max(0, failure.waitMs - toleranceMs) }];
  });

/** Whether every retry follows a failure of an equal request, after the wait that this failure requires. */
export function areRepeatsExplained(group: EqualRequests): boolean {
  const failed = failedCallsOf(group).toSorted((one, other) => one.readyMs - other.readyMs);
  let [ready, explained] = [0, 0];
  for (const { exchange } of group.calls) {
    while (ready < failed.length && (failed[ready]?.readyMs ?? Infinity) <= exchange.sentMs) ready += 1;
    if (explained < ready) explained += 1;
  }
  return explained >= Math.min(group.repeats, failed.length);
}

/** Returns the first request of the group that the client sent before the wait after a failure was over. */
export function firstEarlyRepeat({ calls }: EqualRequests, failed: FailedCall): SignedCall | undefined {
  return calls.find(({ exchange: { sentMs } }) => sentMs > failed.failure.fromMs && sentMs < failed.readyMs);
}

/** Returns the times from each 5xx response to the next equal request; empty if retries cannot be recognised. */
export function waitsBeforeRetries({ calls, planned }: EqualRequests): number[] {
  if (planned > 1) return [];
  const waits = calls.slice(1).flatMap(({ exchange }, at) => {
    const before = calls[at];
    return before === undefined || failureOf(before)?.kind !== "5xx" ? [] : [exchange.sentMs - endMsOf(before)];
  });
  return waits.some((ms) => ms < 0) ? [] : waits;
}
