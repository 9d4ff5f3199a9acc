import { getPath } from "../../base/json.ts";
import { encodedSegment, isSegment } from "../../base/path-segment.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { generateSecret } from "../../evidence/secret.ts";
import { type Hook, type Receiver, ReceiverError, type Reply } from "../../receiver/receiver.ts";
import { type Client, agentPath } from "../../run/send/client.ts";
import type { RequirementSet } from "../../spec/requirements.ts";
import { type Target, assignedAgents } from "../../target/target.ts";
import { isSuccess } from "../shared/response.ts";
import { is2xx } from "../../base/http-status.ts";
import { findAnsweringAgent, listedAgents } from "../../run/discovery/discover-target.ts";
import { respondsQuickly } from "../../run/discovery/webhook-agent.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import type { ProbeContext } from "../../run/probe.ts";

/** Prefix of the receiver's addresses for webhooks. Addresses for alerts do not have it. */
export const hookPrefix = "webhook-";

/** Whether the target can reach the receiver, as far as is known before the first delivery. */
export interface ReceiverReach {
  readonly baseUrl: string;
  /** Why the target cannot reach the receiver's address; `null` if it probably can. */
  readonly unreachable: string | null;
  /** Whether the target file promises that the target reaches the receiver. */
  readonly isNamed: boolean;
}

export const reachOf = async (receiver: Receiver, target: Target): Promise<ReceiverReach> => ({
  baseUrl: receiver.baseUrl,
  unreachable: await receiver.reachable(),
  isNamed: target.webhooks?.isReachabilityPromised === true,
});

/** Name of the receiver's address to which a run's first deliveries come. */
const firstHook = `${hookPrefix}wildcard`;

/** Like {@link reachOf}, but throws a `ReceiverError` if no delivery can be expected. */
export async function provenReachOf(receiver: Receiver, target: Target): Promise<ReceiverReach> {
  const isSilent = receiver.record().hooks.some(({ name }) => name === firstHook) && receiver.deliveries().length === 0;
  if (isSilent) throw new ReceiverError(`nothing has reached the receiver at ${receiver.baseUrl}; see HOOK-8`);
  const reach = await reachOf(receiver, target);
  if (reach.unreachable !== null) throw new ReceiverError(reach.unreachable);
  return reach;
}

/** Fields with which a webhook is created. An omitted field is not sent. */
interface WebhookOptions {
  readonly name: string;
  readonly events: readonly string[];
  readonly agent: string | null;
  /** The secret. Default: a random one. `null`: none is sent. */
  readonly secret?: string | null;
  /** The query of the webhook's URL, with its question mark. Default: none. */
  readonly query?: string;
  /** Replies of the receiver to the attempts, in order. Default: 200. */
  readonly replies?: readonly Reply[];
  /** Whether the receiver verifies signatures with another secret than the webhook's. */
  readonly isMismatched?: boolean;
  /** The first requirement set (version of the checks) that judges the webhook and its deliveries. */
  readonly since?: RequirementSet;
}

export interface RequestedWebhook {
  readonly hook: string;
  readonly events: readonly string[];
  readonly agent: string | null;
  readonly exchange: Exchange;
}

export interface OpenedWebhook extends RequestedWebhook {
  readonly address: Hook;
}

export const agentIdOf = ({ target }: { readonly target: Target }): string =>
  target.agents.webhooked ?? target.agents.answering ?? "";

export async function createWebhook(
  client: Client,
  receiver: Receiver,
  { name, events, agent, since, query = "", isMismatched = false, ...wanted }: WebhookOptions,
): Promise<OpenedWebhook> {
  const { secret = generateSecret(), replies = [{ kind: "status", status: 200 }] } = wanted;
  const address = receiver.open(`${hookPrefix}${name}`, {
    secret: isMismatched ? generateSecret() : secret,
    replies,
    ...(since && { since }),
  });
  const sender = since === undefined ? client : client.since(since);
  const exchange = await sender.send("POST", "/webhooks", {
    json: {
      url: `${address.url}${query}`,
      events,
      ...(agent !== null && { agent_id: agent }),
      ...(secret !== null && { secret }),
    },
  });
  return { hook: address.name, events, agent, exchange, address };
}

/** Returns a webhook as evidence, without its address object, which JSON cannot store. */
export const requestedWebhookOf = ({ hook, events, agent, exchange }: OpenedWebhook): RequestedWebhook => ({
  hook,
  events,
  agent,
  exchange,
});

/** Returns the id of a created webhook. `null` if the response has none, or the id cannot be part of a path. */
export function webhookIdOf(exchange: Exchange): string | null {
  if (!isSuccess(exchange)) return null;
  const body = bodyJson(exchange);
  const places = [body, getPath(body, "data"), getPath(body, "data", "result"), getPath(body, "webhook")];
  for (const place of places)
    for (const name of ["webhook_id", "id"]) {
      const id = getPath(place, name);
      if (typeof id === "string" && id !== "") return isSegment(id) ? id : null;
      if (typeof id === "number") return String(id);
    }
  return null;
}

export const webhookPath = (id: string, rest = ""): string => `/webhooks/${encodedSegment(id)}${rest}`;

/** Returns the listed agents that the run does not invoke: their webhooks get no events. */
export function idleAgents({ target, discovery, recorder }: ProbeContext, agent: string): string[] {
  const assigned = new Set([agent, ...assignedAgents(target)]);
  return listedAgents([discovery.listing, ...recorder.exchanges()]).filter((each) => !assigned.has(each));
}

/** Finds an agent that has no webhooks yet. `null` without a test clock: the search would take too long. */
export async function agentWithoutWebhooks(context: ProbeContext<"receiver">): Promise<string | null> {
  if (!context.time.canAdvance || hasFewRequests(context.target)) return null;
  const [, ...listed] = idleAgents(context, agentIdOf(context));
  const [named] = namedIdleAgents(context.target);
  // Leaves out agents that an earlier search has invoked, and so found unsuitable.
  const isUntried = (agent: string): boolean =>
    !context.recorder.exchanges().some(({ request }) => request.url.includes(agentPath(agent, "invoke")));
  const candidates = named === undefined ? listed.filter(isUntried) : [named];
  const found = await findAnsweringAgent(context.client, candidates, is2xx);
  return found !== null && is2xx(statusOf(found.exchange)) && respondsQuickly(found.exchange) ? found.agent : null;
}

/** Returns the agents of the target file that no later probe invokes, such as a probe of deployment events. */
function namedIdleAgents({ agents, triggers }: Target): string[] {
  const { answering, webhooked, remembering, degraded } = agents;
  const triggersDeployments = Object.keys(triggers).length > 0;
  return [remembering, triggersDeployments ? undefined : degraded].flatMap((agent) =>
    agent === undefined || agent === answering || agent === webhooked ? [] : [agent],
  );
}
