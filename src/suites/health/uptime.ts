import type { AnswerSeen } from "../answers/field-checks.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { agentOf } from "../answers/recorded.ts";
import { member } from "../answers/shape.ts";

/** Reports nearer to each other tell nothing: an uptime may be rounded. */
const leastMs = 20;
/** A rise by milliseconds is a thousand times as fast as by seconds; a rounded second is less than this many. */
const [slowest, fastest] = [300, 3000];

interface Uptime {
  readonly exchange: Exchange;
  readonly uptime: number;
}

/**
 * Reports whose `uptime` is in another unit than seconds: from each report of an agent to the next it rises about a thousand times as
 * fast as time passes. Reports between which the target's clock was moved, or of which some rise by seconds, tell nothing: replicas
 * behind one address have an uptime each.
 */
export function uptimesOtherThanSeconds(reports: readonly AnswerSeen[]): ReadonlySet<Exchange> {
  const shown = reports.flatMap(({ exchange, root }): Uptime[] => {
    const uptime = member(root, "uptime");
    return typeof uptime === "number" ? [{ exchange, uptime }] : [];
  });
  const racing = new Set<Exchange>();
  for (const ofAgent of Map.groupBy(shown, ({ exchange }) => agentOf(exchange)).values()) {
    const pairs = comparedPairs(ofAgent);
    if (pairs.length > 0 && pairs.every(isRacing)) for (const { exchange } of pairs.flat()) racing.add(exchange);
  }
  return racing;
}

type Pair = readonly [Uptime, Uptime];

/** Each report with the next one that is far enough from it, on a clock that was not moved between. */
function comparedPairs(uptimes: readonly Uptime[]): Pair[] {
  const inOrder = uptimes.toSorted((one, other) => one.exchange.sentMs - other.exchange.sentMs);
  const pairs: Pair[] = [];
  let from = inOrder[0];
  for (const to of inOrder.slice(1)) {
    if (from === undefined || to.exchange.clockMs !== from.exchange.clockMs) {
      from = to;
      continue;
    }
    if (to.exchange.sentMs - from.exchange.answer.endMs < leastMs) continue;
    pairs.push([from, to]);
    from = to;
  }
  return pairs;
}

function isRacing([from, to]: Pair): boolean {
  const risen = to.uptime - from.uptime;
  const shortest = (to.exchange.sentMs - from.exchange.answer.endMs) / 1000;
  const longest = (to.exchange.answer.endMs - from.exchange.sentMs) / 1000;
  return risen >= slowest * shortest && risen <= fastest * longest;
}
