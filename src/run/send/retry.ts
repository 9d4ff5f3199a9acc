import { isGatewayStatus } from "../../base/http-status.ts";
import { getPath, tryParseJson } from "../../base/json.ts";
import type { Answered, Exchange } from "../../evidence/exchange.ts";
import { closedByHarness, headTooLong } from "../../wire/describe-error.ts";

/** Whether the connection broke before the response was complete. Any network causes that now and then. */
export const isConnectionLost = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" ? answer.reason === "broken" : answer.ending.kind === "broken";

/** Whether no connection to the target was made. */
export const isUnreachable = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" && answer.reason === "unreachable";

/** Whether the harness closed the connection before a response. */
export const isClosedByHarness = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" && answer.detail === closedByHarness;

/** Whether the target was gone when the exchange ended. Such an exchange says nothing about the target. */
export const isLostWithTarget = ({ reconnect }: Pick<Exchange, "reconnect">): boolean =>
  reconnect === "refused" || reconnect === "gateway";

/**
 * Whether a response may be a gateway's in place of the target's: a 502, 503 or 504 without rate-limit headers and
 * without a field of the interface.
 */
export function isGatewayError({ status, headers, body }: Answered): boolean {
  if (!isGatewayStatus(status)) return false;
  if (headers.some(([name]) => name.toLowerCase().startsWith("x-ratelimit-"))) return false;
  const json = body.kind === "text" ? tryParseJson(body.text) : undefined;
  return ["error", "status", "data", "checks"].every((name) => getPath(json, name) === undefined);
}

/** Whether the response head was too long to read. No network causes that, and a retry would cost as much again. */
export const hasTooLongHead = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" && answer.detail === headTooLong;

/** Whether no response came in time. */
export const hasTimedOut = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" && answer.reason === "silent";

/** Options of a request that may forbid to repeat it. */
interface RetryOptions {
  readonly noRetry?: true;
  readonly unpaced?: boolean;
  readonly deadlines?: object;
}

/**
 * Whether a request may be repeated. It must be a read or run an agent. No probe may count it, or test limits or
 * deadlines with it.
 */
export const mayRetry = (method: string, path: string, options: RetryOptions): boolean =>
  options.noRetry !== true &&
  options.unpaced !== true &&
  options.deadlines === undefined &&
  (method === "GET" || (method === "POST" && /\/(invoke|stream)$/.test(path)));

/**
 * Drops broken exchanges that the network explains: the same request succeeded later, or was never repeated while
 * others succeeded.
 */
export function withoutNetworkLosses(exchanges: readonly Exchange[]): Exchange[] {
  if (!exchanges.some(isConnectionLost)) return [...exchanges];
  const nameOf = ({ key, request }: Exchange): string => JSON.stringify([key, request]);
  const alike = Map.groupBy(
    exchanges.toSorted((one, other) => one.sentMs - other.sentMs),
    nameOf,
  );
  const hasWhole = exchanges.some((each) => !isConnectionLost(each));
  const isExcused = (lost: Exchange): boolean => {
    const same = alike.get(nameOf(lost)) ?? [];
    const at = same.indexOf(lost);
    const [before, later] = [same[at - 1], same.slice(at + 1)];
    // A request that broke twice in a row was repeated once.
    const isTriedOnce = later.length === 0 && (before === undefined || !isConnectionLost(before));
    return (isTriedOnce && hasWhole) || later.some((each) => !isConnectionLost(each));
  };
  return exchanges.filter((each) => !isConnectionLost(each) || !isExcused(each));
}
