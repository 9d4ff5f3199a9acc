import { getPath, tryParseJson } from "../../base/json.ts";
import { bodyJson, type StreamEvent } from "../../evidence/exchange.ts";
import { retryAfterOf } from "../../rules/limits/rate-limit-info.ts";
import { isTerminal } from "../stream/events.ts";
import type { SignedCall } from "./probes.ts";

/**
 * How a request failed, as its client sees it. A `stream error` is an `error` event, an `overload` one with
 * `retry_after`. A `stream cut` ended without `done` or `error`.
 */
export interface Failure {
  readonly kind: "429" | "5xx" | "lost" | "stream error" | "overload" | "stream cut";
  readonly waitMs: number;
  /** Earliest time at which the client could know of the failure. Its wait before a retry starts here. */
  readonly fromMs: number;
}

/** Returns how a request failed. `null` if it succeeded, got a 4xx other than 429, or the client disconnected. */
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

/** Whether the server accepted a request and answered it with an event stream. */
export const isStream = ({ exchange: { answer } }: SignedCall): boolean =>
  answer.kind === "answered" &&
  answer.status === 200 &&
  answer.headers.some(([name, value]) => /^content-type$/i.test(name) && /^text\/event-stream/i.test(value));

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

/** Time at which a response ended, in milliseconds since the start of the run. */
export const endMsOf = ({ exchange: { answer } }: SignedCall): number => answer.endMs;
