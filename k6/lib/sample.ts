import type { RefinedResponse } from "k6/http";

import type { Flow } from "../../scenarios/scenario.ts";
import { tryParseJson } from "../../src/base/json.ts";
import type { SampleLine } from "../../src/load/engines/k6/lines.ts";
import { bodyMismatches } from "../../src/rules/bodies/rules.ts";
import { malformedHeaders } from "../../src/rules/limits/header-rules.ts";
import { readRateLimitInfo } from "../../src/rules/limits/rate-limit-info.ts";
import { streamShapeOf, tokensOf, tokensOfDone } from "../../src/rules/streams/streams.ts";
import { readEvents, type StreamEvent } from "./sse.ts";
import { rateLimitHeaders } from "../../src/spec/headers.ts";

type Response = RefinedResponse<"text">;

/** Error code of k6 for a request that took longer than its `timeout`. */
const TIMED_OUT = 1050;

interface RequestStart {
  readonly atMs: number;
  /** When the flow's constant rate required the request, in Unix ms; `null` in flows without a constant rate. */
  readonly dueMs: number | null;
}

/**
 * Makes a sample, the evidence of one request, from its response. k6's clock has whole milliseconds. Rounds `sentMs`
 * down, and `headMs` and `endMs` up, so that a request never seems shorter than it was.
 */
export function sampleOf(flow: Flow, start: RequestStart, response: Response): SampleLine {
  const { timings, headers } = response;
  const endMs = Date.now() + 1;
  const hasLeft = flow.leaveAfterMs !== null && response.error_code === TIMED_OUT;
  const isStream = flow.operation.kind === "stream" && (response.status === 200 || response.status === 0);
  const body = response.body ?? "";
  const events = isStream ? readEvents(body) : [];
  const status = statusOf(response, isStream);
  const sent = limiterHeaders(headers);
  const malformed = malformedHeaders(sent);
  const json = isStream ? undefined : tryParseJson(body);
  return {
    load: "sample",
    flow: flow.name,
    key: flow.key,
    dueMs: start.dueMs,
    // Rounds `blocked` down, as `atMs` is. With its fraction, the request could seem to be sent after the next one.
    sentMs: start.atMs + Math.floor(timings.blocked),
    headMs: status === null ? endMs : endMs - timings.receiving,
    endMs,
    latencyMs: timings.sending + timings.waiting,
    status,
    ...readRateLimitInfo(status, sent, () => json),
    ...(malformed.length === 0 ? {} : { malformed }),
    left: hasLeft,
    tokens: status !== 200 ? null : isStream ? tokensOfDone(events) : tokensOf(json),
    flaws:
      status === null || hasLeft || isStream
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
    error: response.error_code !== 0 && response.status === 0 && !hasLeft ? response.error : null,
    stream: isStream && (status === 200 || hasLeft) ? streamOf(response, events, hasLeft) : null,
  };
}

/** Returns a header's name as Go writes it, such as `Retry-After`. k6 converts all names to this form. */
const nameInGo = (name: string): string => name.toLowerCase().replace(/(?:^|-)[a-z]/g, (found) => found.toUpperCase());

const rateNames = rateLimitHeaders.map(nameInGo);

/** Returns the rate-limit headers and `Date`. Splits repeated rate-limit headers, which k6 joins with commas. */
function limiterHeaders(headers: Readonly<Record<string, string>>): (readonly [name: string, value: string])[] {
  const sent: [name: string, value: string][] = [];
  rateNames.forEach((name) => headers[name]?.split(",").forEach((value) => sent.push([name, value])));
  const date = headers["Date"];
  if (date !== undefined) sent.push(["Date", date]);
  return sent;
}

/** Returns the status; `null` without a response. For an interrupted stream, returns 200, although k6 reports 0. */
function statusOf({ status, timings }: Response, isStream: boolean): number | null {
  if (status > 0) return status;
  return isStream && timings.receiving > 0 ? 200 : null;
}

function streamOf(response: Response, events: readonly StreamEvent[], hasLeft: boolean): SampleLine["stream"] {
  const ending = hasLeft ? "left" : response.status === 0 ? "cut" : "whole";
  return { ...streamShapeOf(events), ending };
}
