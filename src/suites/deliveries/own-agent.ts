import { is2xx } from "../../base/http-status.ts";
import { statusOf } from "../../evidence/exchange.ts";
import { findAnsweringAgent } from "../../run/discovery/answering-agent.ts";
import { agentPath } from "../../run/send/client.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import type { ProbeContext } from "../../run/probe.ts";
import { respondsQuickly } from "../../run/discovery/webhook-agent.ts";
import type { Target } from "../../target/target.ts";
import { agentIdOf } from "../webhooks/create-webhook.ts";
import { idleAgents } from "../webhooks/idle-agents.ts";

/**
 * An agent to which no webhook is tied yet, so that these invokes are told to the receivers that fail alone; `null` where the list has none that
 * answers. On a real clock an invoke more costs more than the deliveries that it spares.
 */
export async function ownAgent(scene: ProbeContext<"receiver">): Promise<string | null> {
  if (!scene.time.canAdvance || hasFewRequests(scene.target)) return null;
  const [, ...listed] = idleAgents(scene, agentIdOf(scene));
  const [named] = namedAndQuiet(scene.target);
  // One that was asked and not taken was no good.
  const isNew = (agent: string): boolean =>
    !scene.recorder.exchanges().some(({ request }) => request.url.includes(agentPath(agent, "invoke")));
  const quiet = named === undefined ? listed.filter(isNew) : [named];
  const found = await findAnsweringAgent(scene.client, quiet, is2xx);
  return found !== null && is2xx(statusOf(found.exchange)) && respondsQuickly(found.exchange) ? found.agent : null;
}

/**
 * Agents that somebody named, so that they are known to be there, and that nothing invokes any more: sessions are over by now, and of a degraded
 * agent the health is read; but a deployment may be of that one, and then it is asked for its new version.
 */
function namedAndQuiet({ agents, triggers }: Target): string[] {
  const { answering, webhooked, remembering, degraded } = agents;
  const isDeployed = Object.keys(triggers).length > 0;
  return [remembering, isDeployed ? undefined : degraded].flatMap((agent) =>
    agent === undefined || agent === answering || agent === webhooked ? [] : [agent],
  );
}
