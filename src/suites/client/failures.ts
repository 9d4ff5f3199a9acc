import { getPath, tryParseJson } from "../../base/json.ts";
import { bodyJson, type StreamEvent } from "../../evidence/exchange.ts";
import { retryAfterOf } from "../../rules/limits/rate-limit-info.ts";
import type { SignedCall } from "./probes.ts";

/**
 * How a response failed. `waitMs` is the wait that the response asks for.
 *
 * - `lost`: the connection broke before the end of the response.
 * - `stream error`: an `error` event without `retry_after`; `overload`: one with it.
 * - `stream cut`: the stream ended without `done` or `error`.
 */
export interface Failure {
  readonly kind: "429" | "5xx" | "lost" | "stream error" | "overload" | "stream cut";
  readonly waitMs: number;
  /** When the client could know of the failure at the earliest: the wait is counted from here. */
  readonly fromMs: number;
}

/**
 * Returns how a response failed. `null` if it succeeded, was refused for another reason, or the client disconnected.
 */
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

/** Whether a response is an event stream that was accepted. */
export const isStream = ({ exchange: { answer } }: SignedCall): boolean =>
  answer.kind === "answered" &&
  answer.status === 200 &&
  answer.headers.some(([name, value]) => /^content-type$/i.test(name) && /^text\/event-stream/i.test(value));

export const isEnd = ({ name }: StreamEvent): boolean => name === "done" || name === "error";

function streamFailureOf(events: readonly StreamEvent[], endMs: number): Failure | null {
  const end = events.findLast(isEnd);
  if (end === undefined) return { kind: "stream cut", waitMs: 0, fromMs: endMs };
  if (end.name === "done") return null;
  const seconds = getPath(tryParseJson(end.data), "retry_after");
  const fromMs = end.atMs;
  return typeof seconds === "number"
    ? { kind: "overload", waitMs: seconds * 1000, fromMs }
    : { kind: "stream error", waitMs: 0, fromMs };
}

/** Time at which a response had ended, in milliseconds since the start of the run. */
export const endOf = ({ exchange: { answer } }: SignedCall): number => answer.endMs;
