import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { endpointCalled } from "../../spec/endpoints.ts";
import type { RecordedExchange } from "./recording.ts";

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
