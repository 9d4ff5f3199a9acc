import type { RefinedResponse } from "k6/http";

import { headerNames } from "../../src/interface/headers.ts";
import type { Flow } from "./flows.ts";
import type { SampleLine, StreamLine } from "./lines.ts";
import { memberOf, parsed, readEvents, shapeOf, type StreamEvent, tokensOf, tokensOfDone } from "./sse.ts";

type Response = RefinedResponse<"text">;

/** k6's code for a request that took longer than its `timeout`. */
const TIMED_OUT = 1050;

/** When a request was handed to k6, epoch ms, and when a paced flow wanted that. */
export interface Start {
  readonly atMs: number;
  readonly dueMs: number | null;
}

/**
 * What an answer tells. The clock of a script counts whole milliseconds, so that the times are widened to what is sure: the
 * request left between `sentMs` and `headMs`, and the server decided on it between them, too.
 */
export function sampleOf(flow: Flow, start: Start, response: Response): SampleLine {
  const { timings, headers } = response;
  const endMs = Date.now() + 1;
  const left = flow.leaveAfterMs !== null && response.error_code === TIMED_OUT;
  const isStream = flow.operation.kind === "stream" && (response.status === 200 || response.status === 0);
  const events = isStream ? readEvents(response.body ?? "") : [];
  const status = statusOf(response, isStream);
  return {
    load: "sample",
    flow: flow.name,
    key: flow.key,
    dueMs: start.dueMs,
    // The time blocked includes that of making the connection. In whole milliseconds as the clock's: of two requests in turn within one tick, a
    // fraction would put the later one first.
    sentMs: start.atMs + Math.floor(timings.blocked),
    headMs: status === null ? endMs : endMs - timings.receiving,
    endMs,
    latencyMs: timings.sending + timings.waiting,
    status,
    limit: wholeOrNot(headers[sent.rateLimit]),
    remaining: wholeOrNot(headers[sent.rateRemaining]),
    reset: wholeOrNot(headers[sent.rateReset]),
    resetAfter: wholeOrNot(headers[sent.rateResetAfter]),
    retryAfterSeconds: status === 429 ? retryAfterOf(response.body) : null,
    date: unixSecondsOf(headers.Date),
    left,
    tokens: status !== 200 ? null : isStream ? tokensOfDone(events) : tokensOf(response.body),
    error: response.error_code !== 0 && response.status === 0 && !left ? response.error : null,
    stream: isStream && (status === 200 || left) ? streamOf(response, events, left) : null,
  };
}

/** k6 gives header names as Go writes them: a capital after each dash, small letters elsewhere. */
const asGoWrites = (name: string): string =>
  name.toLowerCase().replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase());

const sent = {
  rateLimit: asGoWrites(headerNames.rateLimit),
  rateRemaining: asGoWrites(headerNames.rateRemaining),
  rateReset: asGoWrites(headerNames.rateReset),
  rateResetAfter: asGoWrites(headerNames.rateResetAfter),
} as const;

/** A whole number as sent, also a negative one: whether it may be so is for the judge. A header sent twice with two values is none. */
function wholeOrNot(text: string | undefined): number | null {
  // k6 joins a header that was sent twice.
  const values = new Set((text ?? "").split(",").map((value) => value.trim()));
  const [value] = values;
  return values.size === 1 && value !== undefined && /^-?\d{1,15}(\.0+)?$/.test(value) ? Number(value) : null;
}

/** `retry_after` of a 429 in either form of an error body. Source: Errors, "Error bodies". */
function retryAfterOf(body: string | null): number | null {
  const error = memberOf(parsed(body ?? ""), "error");
  const seconds = memberOf(error, "retry_after") ?? memberOf(memberOf(error, "details"), "retry_after");
  return typeof seconds === "number" ? seconds : null;
}

function unixSecondsOf(date: string | undefined): number | null {
  const ms = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}

/**
 * k6 tells neither status nor headers of an answer that did not come to its end. Where a stream had begun to arrive it was a 200: refusals
 * are short, and come whole.
 */
function statusOf({ status, timings }: Response, isStream: boolean): number | null {
  if (status > 0) return status;
  return isStream && timings.receiving > 0 ? 200 : null;
}

function streamOf(response: Response, events: readonly StreamEvent[], left: boolean): StreamLine {
  const ending = left ? "left" : response.status === 0 ? "cut" : "whole";
  return { ...shapeOf(events), ending };
}
