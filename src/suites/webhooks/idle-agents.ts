import { is2xx } from "../../base/http-status.ts";
import { statusOf } from "../../evidence/exchange.ts";
import { findAnsweringAgent } from "../../run/discovery/answering-agent.ts";
import { listedAgents } from "../../run/discovery/discover-target.ts";
import { respondsQuickly } from "../../run/discovery/webhook-agent.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import type { ProbeContext } from "../../run/probe.ts";
import { agentPath } from "../../run/send/client.ts";
import { assignedAgents, type Target } from "../../target/target.ts";
import { agentIdOf } from "./create-webhook.ts";

/** Returns the listed agents that the run does not invoke. Their webhooks, which cannot be deleted, get no events. */
export function idleAgents({ target, discovery, recorder }: ProbeContext, agent: string): string[] {
  const assigned = new Set([agent, ...assignedAgents(target)]);
  return listedAgents([discovery.listing, ...recorder.exchanges()]).filter((each) => !assigned.has(each));
}

/** Finds an agent that has no webhooks yet. `null` without a test clock, because the search then takes too long. */
export async function agentWithoutWebhooks(context: ProbeContext<"receiver">): Promise<string | null> {
  if (!context.time.canAdvance || hasFewRequests(context.target)) return null;
  const [, ...listed] = idleAgents(context, agentIdOf(context));
  const [named] = namedIdleAgents(context.target);
  // An earlier search may have invoked the agent and found it unsuitable.
  const isUntried = (agent: string): boolean =>
    !context.recorder.exchanges().some(({ request }) => request.url.includes(agentPath(agent, "invoke")));
  const candidates = named === undefined ? listed.filter(isUntried) : [named];
  const found = await findAnsweringAgent(context.client, candidates, is2xx);
  return found !== null && is2xx(statusOf(found.exchange)) && respondsQuickly(found.exchange) ? found.agent : null;
}

/** Returns the agents of the target file that no later probe invokes. Triggers make a probe invoke the degraded one. */
function namedIdleAgents({ agents, triggers }: Target): string[] {
  const { answering, webhooked, remembering, degraded } = agents;
  const triggersDeployments = Object.keys(triggers).length > 0;
  return [remembering, triggersDeployments ? undefined : degraded].flatMap((agent) =>
    agent === undefined || agent === answering || agent === webhooked ? [] : [agent],
  );
}
