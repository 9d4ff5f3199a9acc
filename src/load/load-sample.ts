import { rounded } from "../base/numbers.ts";
import { parseBoundedJson } from "../base/shallow-json.ts";
import type { Header } from "../evidence/exchange.ts";
import { bodyMismatches, type LoadedEndpoint } from "../rules/bodies/rules.ts";
import { noRateLimitInfo, readRateLimitInfo } from "../rules/limits/rate-limit-info.ts";
import type { LoadSample } from "./load-evidence.ts";
import { tokensOf } from "../rules/streams/sequence.ts";
import { rateValues } from "../spec/headers.ts";

/** A request and its whole answer, as an engine has it. Times as in {@link LoadSample}. */
export interface ObservedResponse {
  readonly flow: string;
  readonly key: string;
  readonly endpoint: LoadedEndpoint;
  readonly sentMs: number;
  readonly headMs: number;
  readonly endMs: number;
  readonly status: number;
  readonly headers: readonly Header[];
  /** The body's text; `null` where it is not known whole, or no text. */
  readonly body: string | null;
  readonly left: boolean;
}

/** What the limiter showed in an answer. */
export function sampleOfResponse(seen: ObservedResponse): LoadSample {
  const { flow, key, status, body, left } = seen;
  const json = body === null ? undefined : parseBoundedJson(body);
  return {
    flow,
    key,
    ...timesOf(seen),
    status,
    ...readRateLimitInfo(status, seen.headers, () => json),
    left,
    tokens: status === 200 ? tokensOf(json) : null,
    flaws: left || body === null ? null : flawsOf(seen, body, json),
  };
}

/** What is wrong with an answer by itself; `null` where its body is written in a way that nobody asked for. */
function flawsOf({ endpoint, status, headers }: ObservedResponse, text: string, json: unknown): LoadSample["flaws"] {
  if (json === undefined && valueOf(headers, "content-encoding") !== null) return null;
  return [...bodyMismatches({ endpoint, status, json, text, contentType: valueOf(headers, "content-type") })];
}

/** A header as sent; `null` where it is absent. */
function valueOf(headers: readonly Header[], name: string): string | null {
  for (const [sent, value] of headers) if (sent.length === name.length && sent.toLowerCase() === name) return value;
  return null;
}

/** A request that nothing came back for, until `endMs`. */
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

/**
 * Whether an answer's headers are known. k6 tells none of one that did not come to its end, and of a stream that had begun its status only because
 * something of its body was there; what an answer lacks that nobody saw proves nothing.
 */
export const hasKnownHeaders = (sample: Omit<LoadSample, "flow" | "key">): boolean =>
  sample.status !== null &&
  (sample.date !== null ||
    rateValues.some((name) => sample[name] !== null) ||
    (!sample.left && (sample.flaws !== null || sample.tokens !== null)));

const timesOf = ({ sentMs, headMs, endMs }: Pick<ObservedResponse, "sentMs" | "headMs" | "endMs">) => ({
  sentMs: toMicroseconds(sentMs),
  headMs: toMicroseconds(headMs),
  endMs: toMicroseconds(endMs),
});

/** Finer than any engine's clock is exact, and short as text. */
export const toMicroseconds = (ms: number): number => rounded(ms, 3);
