import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable } from "../../run/judge/finding.ts";
import { agentInPath, allExchanges, type AllExchanges, endpointOf } from "../shared/all-exchanges.ts";
import { hasStatus } from "../shared/response.ts";

/** A health response, and when its process started if `uptime` is in seconds, or in milliseconds. */
interface Start {
  readonly exchange: Exchange;
  readonly uptime: number;
  readonly sentAtMs: number;
  readonly bySecondsMs: number;
  readonly byMillisecondsMs: number;
}

/** Maximum difference of equal start times: a response takes time, and an `uptime` may be rounded. */
const toleranceMs = 2000;
/** Minimum `uptime` to compare. A smaller one gives nearly the same start in both units. */
const minUptime = 10_000;
/** Minimum number of responses in milliseconds that agree on a start. */
const minInMilliseconds = 3;
/** Minimum number of responses in seconds that agree on a start. */
const minInSeconds = 2;
/** Minimum time between the first and last response in milliseconds. An `uptime` in seconds rises too slowly. */
const minSpanMs = 60_000;

function startsOf(all: AllExchanges): Start[] {
  return all.exchanges.flatMap((exchange): Start[] => {
    if (endpointOf(exchange) !== "health" || !hasStatus(exchange, 200)) return [];
    const uptime = getPath(bodyJson(exchange), "uptime");
    if (typeof uptime !== "number") return [];
    const sentAtMs = exchange.sentMs + exchange.clockMs;
    return [{ exchange, uptime, sentAtMs, bySecondsMs: sentAtMs - 1000 * uptime, byMillisecondsMs: sentAtMs - uptime }];
  });
}

const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= toleranceMs;

interface MixedUnits {
  readonly inSeconds: readonly Start[];
  readonly inMilliseconds: readonly Start[];
}

/** Finds responses in milliseconds among others in seconds that give the same start. Replicas have different starts. */
function findMixedUnits(starts: readonly Start[]): MixedUnits | null {
  const old = starts.filter(({ uptime }) => uptime >= minUptime);
  for (const { bySecondsMs: startMs } of starts) {
    const inMilliseconds = old.filter((each) => isNear(each.byMillisecondsMs, startMs));
    if (inMilliseconds.length < minInMilliseconds) continue;
    const inSeconds = starts.filter((each) => isNear(each.bySecondsMs, startMs));
    const times = inMilliseconds.map(({ sentAtMs }) => sentAtMs);
    const spanMs = Math.max(...times) - Math.min(...times);
    if (inSeconds.length >= minInSeconds && spanMs >= minSpanMs) return { inSeconds, inMilliseconds };
  }
  return null;
}

/** Judges that an agent's health responses do not mix seconds and milliseconds. */
export function judgeMixedUnits(all: AllExchanges): Finding<never> {
  const starts = startsOf(all);
  if (starts.length === 0) return inapplicable("no health response has an `uptime`");
  const byAgent = Map.groupBy(starts, ({ exchange }) => agentInPath(exchange));
  const found = [...byAgent.values()].map(findMixedUnits).find((each) => each !== null);
  const [seconds, milliseconds] = [found?.inSeconds[0], found?.inMilliseconds[0]];
  if (found === undefined || seconds === undefined || milliseconds === undefined) return holds();
  return breach(
    "`uptime` in seconds, in every report",
    `${found.inMilliseconds.length} reports in milliseconds, such as ${formatValue(milliseconds.uptime)}, by the start that ${found.inSeconds.length} others give in seconds, such as ${formatValue(seconds.uptime)}`,
    seconds.exchange,
    milliseconds.exchange,
  );
}

export const mixedUnitsCheck: Check = check("HLT-8", allExchanges, judgeMixedUnits, {
  as: "the same unit everywhere",
  since: "1.2",
});
