import { isGatewayStatus } from "../../base/http.ts";
import { getPath, tryParseJson } from "../../base/json.ts";
import type { Answered, Exchange } from "../../evidence/exchange.ts";
import type { Deadlines } from "../../wire/deadlines.ts";
import { closedByHarness, headTooLong } from "../../wire/describe-error.ts";

/** Whether the connection broke before the response was complete. Any network causes this occasionally. */
export const isConnectionLost = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" ? answer.reason === "broken" : answer.ending.kind === "broken";

export const isUnreachable = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" && answer.reason === "unreachable";

export const isClosedByHarness = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" && answer.detail === closedByHarness;

/** Whether the target was unavailable during the exchange. Such an exchange shows nothing about the target. */
export const isLostWithTarget = ({ reconnect }: Pick<Exchange, "reconnect">): boolean =>
  reconnect === "refused" || reconnect === "gateway";

/** Whether a gateway may have sent this response: 502, 503 or 504, without the interface's headers and fields. */
export function isGatewayError({ status, headers, body }: Answered): boolean {
  if (!isGatewayStatus(status)) return false;
  if (headers.some(([name]) => name.toLowerCase().startsWith("x-ratelimit-"))) return false;
  const json = body.kind === "text" ? tryParseJson(body.text) : undefined;
  return ["error", "status", "data", "checks"].every((name) => getPath(json, name) === undefined);
}

/** Whether the response head was too long to read. The network does not cause this, so a retry fails, too. */
export const hasTooLongHead = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" && answer.detail === headTooLong;

export const hasTimedOut = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" && answer.reason === "silent";

export interface RetryOptions {
  /** Does not repeat the request after a broken connection or a timeout: the probe counts the effects of requests. */
  readonly noRetry?: true;
  /** Sends at once, even if the key has no requests left, and does not retry. For example, to provoke a 429. */
  readonly unpaced?: boolean;
  readonly deadlines?: Partial<Deadlines>;
}

/** Whether a request may be repeated. Excludes requests that create objects or that a probe counts or times. */
export const mayRetry = (method: string, path: string, options: RetryOptions): boolean =>
  options.noRetry !== true &&
  options.unpaced !== true &&
  options.deadlines === undefined &&
  (method === "GET" || (method === "POST" && /\/(invoke|stream)$/.test(path)));

/**
 * Drops exchanges whose connection broke, because the network may be the cause. Keeps them if all retries of the
 * request broke as well, or if every exchange broke.
 */
export function withoutNetworkLosses(exchanges: readonly Exchange[]): Exchange[] {
  if (!exchanges.some(isConnectionLost)) return [...exchanges];
  const nameOf = ({ key, request }: Exchange): string => JSON.stringify([key, request]);
  const alike = Map.groupBy(
    exchanges.toSorted((one, other) => one.sentMs - other.sentMs),
    nameOf,
  );
  const hasWhole = exchanges.some((each) => !isConnectionLost(each));
  const isExcused = (broken: Exchange): boolean => {
    const same = alike.get(nameOf(broken)) ?? [];
    const at = same.indexOf(broken);
    const [before, later] = [same[at - 1], same.slice(at + 1)];
    // If an identical request just before it broke as well, this request is a retry.
    const isTriedOnce = later.length === 0 && (before === undefined || !isConnectionLost(before));
    return (isTriedOnce && hasWhole) || later.some((each) => !isConnectionLost(each));
  };
  return exchanges.filter((each) => !isConnectionLost(each) || !isExcused(each));
}
