import { memoizeByObject } from "../../base/memoize.ts";
import { encodedSegment } from "../../base/path-segment.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { maxDurationIn } from "../shared/durations.ts";
import { agentInPath, byEndpoint, type AllExchanges } from "../shared/all-exchanges.ts";
import { member } from "../shared/response.ts";

/**
 * The longest that an execution may have taken of which a delivery tells, in milliseconds of the target's clock: as long as the
 * longest request to that agent before. Infinite where there is none, or where a batch may have started it.
 */
export function longestExecutionMs(all: AllExchanges, delivery: Delivery): number {
  const agent = member(deliveryJson(delivery), "agent_id");
  if (typeof agent !== "string") return Infinity;
  const isBefore = ({ sentMs }: Pick<Exchange, "sentMs">): boolean => sentMs <= delivery.receivedMs;
  if (byEndpoint(all).get("batch")?.some(isBefore) === true) return Infinity;
  const turns = (turnsOf(all).get(encodedSegment(agent)) ?? []).filter(isBefore);
  return turns.length === 0 ? Infinity : Math.max(...turns.map(({ tookMs }) => tookMs));
}

/** Requests to an agent that have it run, and how long they took at most, by the agent. */
const turnsOf = memoizeByObject((all: AllExchanges) => {
  const tookMs = maxDurationIn(all.exchanges);
  const turns = (["invoke", "stream"] as const).flatMap((endpoint) => byEndpoint(all).get(endpoint) ?? []);
  return Map.groupBy(
    turns.map((each) => ({ agent: agentInPath(each), sentMs: each.sentMs, tookMs: tookMs(each) })),
    ({ agent }) => agent,
  );
});
