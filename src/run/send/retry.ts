import type { Exchange } from "../../evidence/exchange.ts";
import { headTooLong } from "../../wire/describe-error.ts";

/** Whether the connection ended before the answer was whole, which a network does to any server. */
export const isConnectionLost = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" ? answer.reason === "broken" : answer.ending.kind === "broken";

/** Whether the answer's head was given up for its length: no network does that, and another try costs as much again. */
export const hasTooLongHead = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" && answer.detail === headTooLong;

/** Whether no answer came in time. */
export const hasTimedOut = ({ answer }: Pick<Exchange, "answer">): boolean =>
  answer.kind === "unanswered" && answer.reason === "silent";

/** What a probe says of a request that speaks against sending it twice. */
interface Sent {
  readonly once?: true;
  readonly unpaced?: boolean;
  readonly deadlines?: object;
}

/** Whether a request may be sent again: it reads, or runs an agent; and nobody counts it, or tests limits or deadlines by it. */
export const mayRetry = (method: string, path: string, options: Sent): boolean =>
  options.once !== true &&
  options.unpaced !== true &&
  options.deadlines === undefined &&
  (method === "GET" || (method === "POST" && /\/(invoke|stream)$/.test(path)));

/**
 * Those that say something of the target. A network loses a request now and then: where the same one came through later, or it was
 * not tried again and others came through, its loss says nothing.
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
    // What is lost twice in turn was tried again.
    const isTriedOnce = later.length === 0 && (before === undefined || !isConnectionLost(before));
    return (isTriedOnce && hasWhole) || later.some((each) => !isConnectionLost(each));
  };
  return exchanges.filter((each) => !isConnectionLost(each) || !isExcused(each));
}
