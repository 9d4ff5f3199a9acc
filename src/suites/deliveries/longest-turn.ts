import { encodedSegment } from "../../base/path-segment.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { targetTimeIn } from "../answers/durations.ts";
import { agentOf, endpointOf, type Everything } from "../answers/recorded.ts";
import { member } from "../answers/shape.ts";

/**
 * The longest that an execution may have taken of which a delivery tells, in milliseconds of the target's clock: as long as the
 * longest request to that agent before. Infinite where there is none, or where a batch may have started it.
 */
export function longestTurnMs(all: Everything, delivery: Delivery): number {
  const agent = member(deliveryJson(delivery), "agent_id");
  if (typeof agent !== "string") return Infinity;
  const before = all.exchanges.filter(({ sentMs }) => sentMs <= delivery.receivedMs);
  if (before.some((each) => endpointOf(each, all) === "batch")) return Infinity;
  const turns = before.filter((each) => isTurnOf(each, agent));
  const tookMs = targetTimeIn(all.exchanges);
  return turns.length === 0 ? Infinity : Math.max(...turns.map(tookMs));
}

const isTurnOf = (exchange: Exchange, agent: string): boolean =>
  ["invoke", "stream"].includes(endpointOf(exchange) ?? "") && agentOf(exchange) === encodedSegment(agent);
