import { rounded } from "../base/numbers.ts";
import { parseBoundedJson } from "../base/parsing.ts";
import type { Header } from "../evidence/exchange.ts";
import { malformedHeaders } from "../rules/limits/header-rules.ts";
import { bodyMismatches, type LoadedEndpoint } from "../rules/bodies/rules.ts";
import { noRateLimitInfo, readRateLimitInfo } from "../rules/limits/rate-limit-info.ts";
import type { LoadSample } from "../evidence/load-evidence.ts";
import { tokensOf } from "../rules/streams/streams.ts";
import { rateHeaderKeys } from "../spec/headers.ts";

export interface ObservedResponse {
  readonly flow: string;
  readonly key: string;
  readonly endpoint: LoadedEndpoint;
  readonly sentMs: number;
  readonly headMs: number;
  readonly endMs: number;
  readonly status: number;
  readonly headers: readonly Header[];
  /** The whole body as text; `null` for a successful stream, an incomplete body, or a body that is not text. */
  readonly body: string | null;
  /** Whether the client disconnected on purpose before the response was complete. */
  readonly left: boolean;
}

export function sampleOfResponse(response: ObservedResponse): LoadSample {
  const { flow, key, status, body, left } = response;
  const json = body === null ? undefined : parseBoundedJson(body);
  return {
    flow,
    key,
    ...timesOf(response),
    status,
    ...readRateLimitInfo(status, response.headers, () => json),
    ...malformedOf(response.headers),
    left,
    tokens: status === 200 ? tokensOf(json) : null,
    flaws: left || body === null ? null : mismatchesOf(response, body, json),
  };
}

function malformedOf(headers: readonly Header[]): Pick<LoadSample, "malformed"> {
  const malformed = malformedHeaders(headers);
  return malformed.length === 0 ? {} : { malformed };
}

/** Returns the rules that a body breaks; `null` if the body cannot be read because it is compressed. */
function mismatchesOf(
  { endpoint, status, headers }: ObservedResponse,
  text: string,
  json: unknown,
): LoadSample["flaws"] {
  if (json === undefined && valueOf(headers, "content-encoding") !== null) return null;
  return [...bodyMismatches({ endpoint, status, json, text, contentType: valueOf(headers, "content-type") })];
}

function valueOf(headers: readonly Header[], name: string): string | null {
  return headers.find(([each]) => each.length === name.length && each.toLowerCase() === name)?.[1] ?? null;
}

export function unansweredSample(
  sent: Pick<ObservedResponse, "flow" | "key" | "sentMs" | "endMs" | "left">,
): LoadSample {
  return {
    flow: sent.flow,
    key: sent.key,
    ...timesOf({ ...sent, headMs: sent.endMs }),
    status: null,
    ...noRateLimitInfo,
    left: sent.left,
    tokens: null,
    flaws: null,
  };
}

/** Whether the sample has the headers of its response. k6 drops the headers of an incomplete response. */
export const hasKnownHeaders = (sample: Omit<LoadSample, "flow" | "key">): boolean =>
  sample.status !== null &&
  (sample.date !== null ||
    sample.malformed !== undefined ||
    rateHeaderKeys.some((name) => sample[name] !== null) ||
    (!sample.left && (sample.flaws !== null || sample.tokens !== null)));

const timesOf = ({ sentMs, headMs, endMs }: Pick<ObservedResponse, "sentMs" | "headMs" | "endMs">) => ({
  sentMs: roundToMicroseconds(sentMs),
  headMs: roundToMicroseconds(headMs),
  endMs: roundToMicroseconds(endMs),
});

/** Rounds milliseconds to whole microseconds, which keeps the text of the evidence short. */
export const roundToMicroseconds = (ms: number): number => rounded(ms, 3);

/** Returns the Unix time in milliseconds, with a fraction, by a clock that never goes back. */
export const epochMs = (): number => performance.timeOrigin + performance.now();
