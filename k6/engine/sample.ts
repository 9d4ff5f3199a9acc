import type { RefinedResponse } from "k6/http";

import { tryParseJson } from "../../src/base/json.ts";
import { bodyMismatches } from "../../src/rules/bodies/rules.ts";
import { rateHeaders, readRateLimitInfo } from "../../src/rules/limits/rate-limit-info.ts";
import { shapeOf, tokensOf, tokensOfDone } from "../../src/rules/streams/sequence.ts";
import type { Flow } from "./flows.ts";
import type { SampleLine } from "./lines.ts";
import { readEvents, type StreamEvent } from "./sse.ts";

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
  const body = response.body ?? "";
  const json = isStream ? undefined : tryParseJson(body);
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
    ...readRateLimitInfo(status, sentHeaders(headers), () => json),
    left,
    tokens: status !== 200 ? null : isStream ? tokensOfDone(events) : tokensOf(json),
    flaws:
      status === null || left || isStream
        ? null
        : [
            ...bodyMismatches({
              endpoint: flow.operation.kind,
              status,
              json,
              text: body,
              contentType: headers["Content-Type"] ?? null,
            }),
          ],
    error: response.error_code !== 0 && response.status === 0 && !left ? response.error : null,
    stream: isStream && (status === 200 || left) ? streamOf(response, events, left) : null,
  };
}

/** How Go writes a header's name, whatever its case on the wire. */
const nameInGo = (name: string): string => name.toLowerCase().replace(/(?:^|-)[a-z]/g, (found) => found.toUpperCase());

const rateNames = Object.values(rateHeaders).map(nameInGo);

/** The headers that a limiter speaks by, as they were sent: k6 joins one that was sent twice. A date has a comma of its own. */
function sentHeaders(headers: Readonly<Record<string, string>>): (readonly [name: string, value: string])[] {
  const sent: [name: string, value: string][] = [];
  rateNames.forEach((name) => headers[name]?.split(",").forEach((value) => sent.push([name, value])));
  const date = headers["Date"];
  if (date !== undefined) sent.push(["Date", date]);
  return sent;
}

/**
 * k6 tells neither status nor headers of an answer that did not come to its end. Where a stream had begun to arrive it was a 200: refusals
 * are short, and come whole.
 */
function statusOf({ status, timings }: Response, isStream: boolean): number | null {
  if (status > 0) return status;
  return isStream && timings.receiving > 0 ? 200 : null;
}

function streamOf(response: Response, events: readonly StreamEvent[], left: boolean): SampleLine["stream"] {
  const ending = left ? "left" : response.status === 0 ? "cut" : "whole";
  return { ...shapeOf(events), ending };
}
