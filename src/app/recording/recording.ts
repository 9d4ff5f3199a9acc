import type { Exchange } from "../../evidence/exchange.ts";
import type { RecordingContents } from "../../suites/recorded/recorded-suites.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { endpointCalled } from "../../spec/endpoints.ts";

/** Reasons why an exchange in a recording is not judged, with their texts in the report. */
export const leftOutTexts = {
  "another server": "to another server, or outside the base URL",
  options: "OPTIONS, such as the preflight requests of browsers",
  cache: "answered by a cache (304, an `Age`, or a mark of the recorder)",
  unanswered: "without a response, such as those that the client aborted",
  gateway: "answered by a gateway or a proxy, not by the server",
  unreadable: "entries that cannot be read",
  "own response": "answered by the proxy itself, because the server gave no response",
} as const;

export type LeftOutReason = keyof typeof leftOutTexts;

/** Parts that a recording may lack of an exchange that is judged all the same, with their texts in the report. */
export const missingPartTexts = {
  "no body": "bodies that were not recorded",
  "cut body": "bodies of which only a part was recorded",
  "no end": "streams whose end was not recorded",
  "no times": "exchanges without usable times",
  "hidden key": "requests whose key the recorder hid",
} as const;

export type MissingPart = keyof typeof missingPartTexts;

/** An exchange from a recorded file. It still contains secrets, such as the API key. */
export interface RecordedExchange {
  /**
   * Its times are Unix milliseconds, or milliseconds since the start of the recording if that start is unknown. `key`
   * is the key's name if the file has one.
   */
  readonly exchange: Exchange;
  readonly gaps: readonly MissingPart[];
}

/** Traffic from a recorded file. It still contains secrets, such as API keys. */
export interface Recording {
  /** The format of the file, and the program that wrote it. */
  readonly format: string;
  readonly exchanges: readonly RecordedExchange[];
  readonly leftOut: ReadonlyMap<LeftOutReason, number>;
  /** Properties that the recording shows, such as times. Whether it shows `keys` is found out later. */
  readonly facts: Omit<RecordingContents, "keys">;
}

/** Counts how often each item occurs. */
export function countEach<K>(items: Iterable<K>): Map<K, number> {
  const counts = new Map<K, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

/**
 * A base URL that may be the one of the server to judge. `score`: how strongly one exchange below this URL suggests
 * that.
 */
interface ServerCandidate {
  readonly baseUrl: string;
  readonly score: number;
}

/**
 * Finds the server to judge in a recording of several servers. Each exchange whose path fits the interface scores for
 * its base URL. Rate-limit headers score higher, because other services may have similar paths.
 *
 * @throws {UsageError} if no request fits
 */
export function chooseBaseUrl(exchanges: readonly RecordedExchange[], file: string): string {
  const scores = new Map<string, number>();
  for (const each of exchanges) {
    const found = serverCandidateOf(each);
    if (found !== null) scores.set(found.baseUrl, (scores.get(found.baseUrl) ?? 0) + found.score);
  }
  const [best] = [...scores].toSorted(([, one], [, other]) => other - one);
  if (best !== undefined) return best[0];
  throw new UsageError(
    line`${file} has no request to this interface, such as POST …/v1/agents/ID/invoke. Name the server with --base-url.`,
  );
}

function serverCandidateOf({ exchange: { request, answer } }: RecordedExchange): ServerCandidate | null {
  const call = endpointCalled(request.method, request.url);
  const [, baseUrl] = /^([^?#]*?\/v1)\//.exec(request.url) ?? [];
  if (call === null || baseUrl === undefined || answer.kind !== "answered") return null;
  const hasRateHeaders = answer.headers.some(([name]) => name.toLowerCase().startsWith("x-ratelimit-"));
  const isSpecific = call.endpoint === "invoke" || call.endpoint === "stream" || call.endpoint === "health";
  return { baseUrl: canonicalUrl(baseUrl), score: 1 + (hasRateHeaders ? 4 : 0) + (isSpecific ? 2 : 0) };
}

const canonicalUrl = (url: string): string => new URL(url).href.replace(/\/$/, "");

/** Whether a URL is the base URL or a path below it, with or without a query. */
export const isBelow = (url: string, baseUrl: string): boolean => {
  const { href } = new URL(url);
  return href.startsWith(`${baseUrl}/`) || href === baseUrl || href.startsWith(`${baseUrl}?`);
};
