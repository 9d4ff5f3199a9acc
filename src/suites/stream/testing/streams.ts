import type { Exchange, StreamEvent } from "../../../evidence/exchange.ts";
import { event, streamed, unanswered } from "../../testing/exchange.ts";

// Events of streams, for tests of the checks.

export const start = event("start", { message: "Go." });
export const chunk = (content: string, index?: number, atMs?: number) =>
  event("chunk", { content, ...(index === undefined ? {} : { index }) }, atMs);
export const done = event("done", { message: "Done.", usage: { total_tokens: 3 }, execution_time: 0.01 });
export const failure = (fields: object = {}) => event("error", { error: "Broken.", code: "STREAM_ERROR", ...fields });

export const whole = [start, chunk("one "), chunk("two"), done];
/** Returns a stream as the evidence of a probe that measured its time. */
export const timedEvidence = (given: Exchange, clockAtEventsMs: readonly number[] = [], clockAfterMs = 0) => ({
  exchange: given,
  clockAtEventsMs,
  clockAfterMs,
  promised: true,
});
/** Returns streams as the evidence of the checks of every stream. */
export const evidenceOfStreams = (streams: readonly Exchange[], failing: readonly string[] = []) => ({
  plain: timedEvidence(streams[0] ?? unanswered()),
  all: { streams, failing },
});
/** Returns the evidence of a run whose only stream has these events. */
export const evidenceOfEvents = (...events: readonly StreamEvent[]) => evidenceOfStreams([streamed(events)]);
/** Returns a stream whose connection breaks after these events. */
export const brokenStream = (...events: readonly StreamEvent[]) =>
  streamed(events, { ending: { kind: "broken", detail: "reset" } });
export const indexed = (...indexes: readonly number[]) =>
  streamed([start, ...indexes.map((index) => chunk("x", index)), done]);
