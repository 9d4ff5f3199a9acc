import { bodyJson, headerValues, requestHeaderValues, type StreamEvent } from "../../evidence/exchange.ts";
import { type ClientCall, type CommandRun, requestIdentity, requestTarget } from "../../evidence/client-call.ts";
import { clientProbe } from "../../run/probe.ts";
import type { ClientSession } from "../../run/party-session.ts";
import { headerNames } from "../../spec/headers.ts";
import { requestSignature } from "../authentication/signing.ts";
import { getPath, tryParseJson } from "../../base/json.ts";
import { retryAfterOf } from "../../rules/limits/rate-limit-info.ts";
import { isTerminal } from "../stream/events.ts";
import { hasStatus } from "../shared/response.ts";

export interface SignedCall extends ClientCall {
  readonly computedSignatures: readonly string[];
}

export interface JudgedRun extends CommandRun {
  readonly calls: readonly SignedCall[];
}

export interface ObservedRuns {
  readonly isStrict: boolean;
  readonly runs: readonly JudgedRun[];
}

/** The positive control: runs the client's command against a server that injects no errors. */
export const ranPlainly = clientProbe("the command runs without trouble", async (session): Promise<ObservedRuns> =>
  withSignatures([await session.runPlainly()], session),
);

export const ranTroubled = clientProbe("the command runs under trouble", async (session): Promise<ObservedRuns> =>
  withSignatures(await session.runTroubled(), session),
);

// Signatures are computed here and not in a check: checks see only evidence, which must not contain the secret.
const withSignatures = (runs: readonly CommandRun[], { isStrict, signingSecret }: ClientSession): ObservedRuns => ({
  isStrict,
  runs: runs.map((run) => ({
    ...run,
    calls: run.calls.map((call) => ({ ...call, computedSignatures: signaturesOf(call, signingSecret) })),
  })),
});

function signaturesOf({ exchange: { request } }: ClientCall, secret: string): string[] {
  const [timestamp] = requestHeaderValues(request, headerNames.timestamp);
  const { method, body } = request;
  if (timestamp === undefined || (body.kind !== "text" && body.kind !== "none")) return [];
  const path = requestTarget(request);
  const text = body.kind === "text" ? body.text : "";
  return [...new Set([path, path.replace(/[?].*/s, "")])].map((each) =>
    requestSignature({ method, path: each, timestamp, body: text }, secret),
  );
}

export interface PlainAndTroubledRuns {
  readonly plain: ObservedRuns;
  readonly troubled: ObservedRuns;
}

export const plainAndTroubled = { plain: ranPlainly, troubled: ranTroubled } as const;

/** A failure that a client sees. `overload`: `error` event with `retry_after`. `stream cut`: no `done` or `error`. */
export interface Failure {
  readonly kind: "429" | "5xx" | "lost" | "stream error" | "overload" | "stream cut";
  readonly waitMs: number;
  /** Earliest time at which the client could know of the failure. Retry waits are measured from here. */
  readonly fromMs: number;
}

/** Returns the failure of a request; `null` for a success, a 4xx other than 429, or a client that disconnected. */
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

/** Equal requests of one run under trouble: the same method, path, query string and body. */
export interface EqualRequests {
  readonly calls: readonly SignedCall[];
  /** Number of times that the client sends this request if the server injects no errors. At least 1. */
  readonly planned: number;
  readonly repeats: number;
  readonly run: JudgedRun;
}

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

interface FailedCall {
  readonly call: SignedCall;
  readonly failure: Failure;
  readonly readyMs: number;
}

/** Tolerance for early retries: timers may fire early, and clients may round waits. */
const toleranceMs = 100;

export const failedCallsOf = ({ calls }: EqualRequests): FailedCall[] =>
  calls.flatMap((call) => {
    const failure = failureOf(call);
    if (failure === null) return [];
    return [{ call, failure, readyMs: failure.fromMs + Math.max(0, failure.waitMs - toleranceMs) }];
  });

/** Whether each repeat came after the wait that an earlier failure demands. Each failure permits one repeat. */
export function areRepeatsExplained(group: EqualRequests): boolean {
  const failed = failedCallsOf(group).toSorted((one, other) => one.readyMs - other.readyMs);
  let [ready, explained] = [0, 0];
  for (const { exchange } of group.calls) {
    while (ready < failed.length && (failed[ready]?.readyMs ?? Infinity) <= exchange.sentMs) ready += 1;
    if (explained < ready) explained += 1;
  }
  return explained >= Math.min(group.repeats, failed.length);
}

export function firstEarlyRepeat({ calls }: EqualRequests, failed: FailedCall): SignedCall | undefined {
  return calls.find(({ exchange: { sentMs } }) => sentMs > failed.failure.fromMs && sentMs < failed.readyMs);
}

export function waitsBeforeRetries({ calls, planned }: EqualRequests): number[] {
  if (planned > 1) return [];
  const waits = calls.slice(1).flatMap(({ exchange }, at) => {
    const before = calls[at];
    return before === undefined || failureOf(before)?.kind !== "5xx" ? [] : [exchange.sentMs - endMsOf(before)];
  });
  return waits.some((ms) => ms < 0) ? [] : waits;
}
