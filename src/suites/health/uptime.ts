import type { JudgedResponse } from "../shared/cases.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { agentInPath } from "../shared/all-exchanges.ts";
import { getPath } from "../../base/json.ts";

/** Minimum time between two compared reports, because an uptime may be rounded. */
const leastMs = 20;
/** A single pair may have a clock advance in between that was not yet recorded. */
const leastPairs = 2;
/** Bounds of the rise per second that indicate milliseconds. A rounded second rises by less. */
const [slowest, fastest] = [300, 3000];

interface Uptime {
  readonly exchange: Exchange;
  readonly uptime: number;
}

/**
 * Returns the reports whose `uptime` is not in seconds: it rises about a thousand times as fast as time. All pairs of an
 * agent must agree, because each replica behind one address has its own uptime.
 */
export function uptimesNotInSeconds(reports: readonly JudgedResponse[]): ReadonlySet<Exchange> {
  const shown = reports.flatMap(({ exchange, root }): Uptime[] => {
    const uptime = getPath(root, "uptime");
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

/** Pairs each report with the next one that is far enough away and has a different uptime. */
function comparedPairs(uptimes: readonly Uptime[]): Pair[] {
  const inOrder = uptimes.toSorted((one, other) => one.exchange.sentMs - other.exchange.sentMs);
  const pairs: Pair[] = [];
  let from = inOrder[0];
  for (const to of inOrder.slice(1)) {
    // An equal uptime may be rounded, or the target's clock may stand still until the run advances it.
    if (from === undefined || spanMs([from, to]).least < leastMs || to.uptime === from.uptime) continue;
    pairs.push([from, to]);
    from = to;
  }
  return pairs;
}

/** Bounds of the time between two reports by the target's clock. */
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
