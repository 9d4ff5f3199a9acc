import { decodedSegment } from "../../base/path-segment.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { dateSeconds } from "../../rules/limits/sample.ts";
import { withoutPings } from "./missing-deliveries.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { isTimestamp, unixMsOf } from "../../rules/bodies/timestamps.ts";
import { deliveriesTo } from "../webhooks/await-deliveries.ts";
import type { InvokedWithWebhooks } from "../webhooks/probes.ts";

/** What came to the webhooks of the agent that was invoked. */
const told = ({ webhooks, deliveries }: InvokedWithWebhooks): Delivery[] =>
  withoutPings(
    [webhooks.wildcard, webhooks.both, webhooks.completed].flatMap((each) =>
      each === null ? [] : deliveriesTo(deliveries, each.hook),
    ),
  );

/** Judges whether events name the agent that was invoked. */
export function judgeAgentNamed(hooked: InvokedWithWebhooks): Finding<never> {
  const invoked = hooked.invoked.map(agentInvoked).find((each) => each !== null);
  const named = told(hooked).flatMap((delivery) => {
    const agent = getPath(deliveryJson(delivery), "agent_id");
    return typeof agent === "string" ? [{ agent, delivery }] : [];
  });
  if (invoked === undefined || named.length === 0) return unproven("no delivery names an agent; see HOOK-5");
  const other = named.find(({ agent }) => agent !== invoked);
  if (other === undefined) return holds();
  return breach(`\`agent_id\` ${formatValue(invoked)}`, formatValue(other.agent), other.delivery, ...hooked.invoked);
}

function agentInvoked({ request }: Exchange): string | null {
  const name = /\/agents\/([^/]+)\/invoke$/.exec(new URL(request.url).pathname)?.[1];
  return name === undefined ? null : decodedSegment(name);
}

const slackMs = 60_000;

/**
 * Judges whether events are dated by the time at which the agent was invoked, as the `Date` headers have it. A clock that the run
 * has moved may move that header or not, so that much is let pass.
 */
export function judgeCreatedTime(hooked: InvokedWithWebhooks): Finding<never> {
  const dates = hooked.invoked.map(dateSeconds).filter((each) => each !== null);
  const created = told(hooked).flatMap((delivery) => {
    const text = getPath(deliveryJson(delivery), "created");
    return typeof text === "string" && isTimestamp(text) && !Number.isNaN(unixMsOf(text))
      ? [{ text, atMs: unixMsOf(text), delivery }]
      : [];
  });
  if (dates.length === 0 || created.length === 0)
    return unproven("no delivery is dated, or no answer has a `Date` header");
  const movedMs = Math.max(...created.map(({ delivery }) => delivery.clockAtMostMs));
  const [fromMs, toMs] = [Math.min(...dates) * 1000 - slackMs - movedMs, Math.max(...dates) * 1000 + slackMs + movedMs];
  const odd = created.find(({ atMs }) => atMs < fromMs || atMs > toMs);
  if (odd === undefined) return holds();
  const around = new Date(Math.min(...dates) * 1000).toISOString();
  return breach(`\`created\` about ${around}`, formatValue(odd.text), odd.delivery, ...hooked.invoked);
}
