import type { JudgedResponse } from "../shared/cases.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { agentInPath } from "../shared/all-exchanges.ts";
import { member } from "../shared/response.ts";

/** Reports nearer to each other tell nothing: an uptime may be rounded. */
const leastMs = 20;
/** One pair may have a move of the clock between that was under way. */
const leastPairs = 2;
/** A rise by milliseconds is a thousand times as fast as by seconds; a rounded second is less than this many. */
const [slowest, fastest] = [300, 3000];

interface Uptime {
  readonly exchange: Exchange;
  readonly uptime: number;
}

/**
 * Reports whose `uptime` is in another unit than seconds: from each report of an agent to the next it rises about a thousand times as
 * fast as time passes. Where some rise by seconds, nothing is told: replicas behind one address have an uptime each.
 */
export function uptimesNotInSeconds(reports: readonly JudgedResponse[]): ReadonlySet<Exchange> {
  const shown = reports.flatMap(({ exchange, root }): Uptime[] => {
    const uptime = member(root, "uptime");
    return typeof uptime === "number" ? [{ exchange, uptime }] : [];
  });
  const racing = new Set<Exchange>();
  for (const ofAgent of Map.groupBy(shown, ({ exchange }) => agentInPath(exchange)).values()) {
    const pairs = comparedPairs(ofAgent);
    if (pairs.length >= leastPairs && pairs.every(isRacing)) for (const [, { exchange }] of pairs) racing.add(exchange);
  }
  return racing;
}

type Pair = readonly [Uptime, Uptime];

/** Each report with the next one that is far enough from it, and tells of another uptime. */
function comparedPairs(uptimes: readonly Uptime[]): Pair[] {
  const inOrder = uptimes.toSorted((one, other) => one.exchange.sentMs - other.exchange.sentMs);
  const pairs: Pair[] = [];
  let from = inOrder[0];
  for (const to of inOrder.slice(1)) {
    // One that stands still may be rounded, or of a clock that stands still until it is moved.
    if (from === undefined || spanMs([from, to]).least < leastMs || to.uptime === from.uptime) continue;
    pairs.push([from, to]);
    from = to;
  }
  return pairs;
}

/** What passed between two reports on the target's clock, which the run may have moved. */
function spanMs([{ exchange: from }, { exchange: to }]: Pair): { readonly least: number; readonly most: number } {
  const movedMs = to.clockMs - from.clockMs;
  return {
    least: to.sentMs - from.answer.endMs + movedMs,
    most: to.answer.endMs - from.sentMs + movedMs,
  };
}

function isRacing(pair: Pair): boolean {
  const [from, to] = pair;
  const risen = to.uptime - from.uptime;
  const { least, most } = spanMs(pair);
  return risen >= (slowest * least) / 1000 && risen <= (fastest * most) / 1000;
}
