import type { Exchange } from "../../evidence/exchange.ts";
import type { RecordingContents } from "../../suites/recorded/recorded-suites.ts";
import { line, UsageError } from "../../base/line.ts";
import { endpointOfRequest } from "../../spec/endpoints.ts";

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

export const missingPartTexts = {
  "no body": "bodies that were not recorded",
  "cut body": "bodies of which only a part was recorded",
  "no end": "streams whose end was not recorded",
  "no times": "exchanges without usable times",
  "hidden key": "requests whose key the recorder hid",
} as const;

export type MissingPart = keyof typeof missingPartTexts;

/** An exchange from a file of recorded traffic. It may still contain secrets, such as the API key. */
export interface RecordedExchange {
  /**
   * The times are Unix milliseconds. In saved evidence without a `Date` header, they count from the run's start. In a HAR
   * without usable times, `sentMs` is 0.
   */
  readonly exchange: Exchange;
  readonly gaps: readonly MissingPart[];
}

export interface Recording {
  readonly format: string;
  readonly exchanges: readonly RecordedExchange[];
  readonly leftOut: ReadonlyMap<LeftOutReason, number>;
  readonly facts: Omit<RecordingContents, "keys">;
}

export function shiftExchange(exchange: Exchange, byMs: number): Exchange {
  const { sentMs, answer } = exchange;
  const endMs = answer.endMs + byMs;
  const shifted =
    answer.kind === "unanswered"
      ? { ...answer, endMs }
      : {
          ...answer,
          headMs: answer.headMs + byMs,
          endMs,
          events: answer.events.map((event) => ({ ...event, atMs: event.atMs + byMs })),
        };
  return { ...exchange, sentMs: sentMs + byMs, answer: shifted };
}

export function countEach<K>(items: Iterable<K>): Map<K, number> {
  const counts = new Map<K, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

export function chooseBaseUrl(exchanges: readonly RecordedExchange[], file: string): string {
  const scores = new Map<string, number>();
  for (const each of exchanges) {
    const { baseUrl, score } = scoreOf(each);
    if (score > 0) scores.set(baseUrl, (scores.get(baseUrl) ?? 0) + score);
  }
  const [best] = [...scores].toSorted(([, one], [, other]) => other - one);
  if (best !== undefined) return best[0];
  throw new UsageError(
    line`${file} has no request to this interface, such as POST …/v1/agents/ID/invoke. Name the server with --base-url.`,
  );
}

function scoreOf({ exchange: { request, answer } }: RecordedExchange): { baseUrl: string; score: number } {
  const call = endpointOfRequest(request.method, request.url);
  const [, baseUrl] = /^([^?#]*?\/v1)\//.exec(request.url) ?? [];
  if (call === null || baseUrl === undefined || answer.kind !== "answered") return { baseUrl: "", score: 0 };
  const hasRateHeaders = answer.headers.some(([name]) => name.toLowerCase().startsWith("x-ratelimit-"));
  const isSpecific = call.endpoint === "invoke" || call.endpoint === "stream" || call.endpoint === "health";
  const score = 1 + (hasRateHeaders ? 4 : 0) + (isSpecific ? 2 : 0);
  const { origin, pathname } = new URL(baseUrl);
  return { baseUrl: origin + pathname, score };
}
