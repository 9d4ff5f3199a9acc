import { getPath } from "../../base/json.ts";
import { encodedSegment, is2xx, isSegment } from "../../base/http.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { generateSecret } from "../../evidence/secret.ts";
import { type Hook, type Receiver, ReceiverError, type Reply } from "../../receiver/receiver.ts";
import { agentPath, type Client } from "../../run/send/client.ts";
import type { RequirementSet } from "../../spec/clause.ts";
import { assignedAgents, type Target } from "../../target/target.ts";
import { isSuccess } from "../shared/response.ts";
import { findAnsweringAgent, listedAgents } from "../../run/discovery/discover-target.ts";
import { respondsQuickly } from "../../run/discovery/complete-target.ts";
import type { ProbeContext } from "../../run/probe.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import type { RunClock } from "../../run/time/run-clock.ts";

/** Name prefix of receiver addresses for webhooks, e.g. `webhook-both`. Most delivery checks ignore other addresses. */
export const hookPrefix = "webhook-";

export interface ReceiverReach {
  readonly baseUrl: string;
  readonly unreachable: string | null;
  /**
   * Whether the user has stated the receiver's settings in the target file or by flags. The user thereby promises that
   * the target can reach the receiver.
   */
  readonly isNamed: boolean;
}

export const receiverReachOf = async (receiver: Receiver, target: Target): Promise<ReceiverReach> => ({
  baseUrl: receiver.baseUrl,
  unreachable: await receiver.reachable(),
  isNamed: target.webhooks?.isReachabilityPromised === true,
});

const firstHook = `${hookPrefix}wildcard`;

/**
 * Works like {@link receiverReachOf}, but throws a `ReceiverError` if the receiver's public URL does not work. Also throws it
 * if the run has already requested a webhook, but got no delivery: the target seems not to reach the receiver.
 */
export async function reachOrThrow(receiver: Receiver, target: Target): Promise<ReceiverReach> {
  const isSilent = receiver.record().hooks.some(({ name }) => name === firstHook) && receiver.deliveries().length === 0;
  if (isSilent) throw new ReceiverError(`nothing has reached the receiver at ${receiver.baseUrl}; see HOOK-8`);
  const reach = await receiverReachOf(receiver, target);
  if (reach.unreachable !== null) throw new ReceiverError(reach.unreachable);
  return reach;
}

interface WebhookOptions {
  readonly name: string;
  readonly events: readonly string[];
  readonly agent: string | null;
  /** Secret that is sent to the target. Default: a random secret. `null`: no secret is sent. */
  readonly secret?: string | null;
  readonly query?: string;
  readonly replies?: readonly Reply[];
  /** Whether the receiver checks signatures with another secret than the one that is sent to the target. */
  readonly isMismatched?: boolean;
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

/** Returns a webhook without its `address`, which contains functions. Evidence must be plain JSON. */
export const requestedWebhookOf = ({ hook, events, agent, exchange }: OpenedWebhook): RequestedWebhook => ({
  hook,
  events,
  agent,
  exchange,
});

/** Returns a webhook's id from the response to its creation. `null` for a failure, or without a usable id. */
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

/**
 * Returns the agents that `GET /agents` lists, without `agent` and the agents with a role in the target. Normally, no
 * probe invokes the returned agents, so their webhooks get no events.
 */
export function idleAgents({ target, discovery, recorder }: ProbeContext, agent: string): string[] {
  const assigned = new Set([agent, ...assignedAgents(target)]);
  return listedAgents([discovery.listing, ...recorder.exchangesSinceOutage()]).filter((each) => !assigned.has(each));
}

/**
 * Finds an agent that answers quickly and normally has no webhooks yet. Returns `null` if it finds none. Also returns
 * `null` without a test clock, because the search could wait long for slow agents.
 */
export async function agentWithoutWebhooks(context: ProbeContext<"receiver">): Promise<string | null> {
  if (!context.time.canAdvance) return null;
  // Skips the first idle agent, because the probe `invokedWithWebhooks` may have created a webhook for it.
  const [, ...listed] = idleAgents(context, agentIdOf(context));
  const [named] = namedIdleAgents(context.target);
  // Skips agents that the run has already invoked, because an earlier search rejected them.
  const isUntried = (agent: string): boolean =>
    !context.recorder.exchangesSinceOutage().some(({ request }) => request.url.includes(agentPath(agent, "invoke")));
  const candidates = named === undefined ? listed.filter(isUntried) : [named];
  const found = await findAnsweringAgent(context.client, candidates, is2xx);
  return found !== null && is2xx(statusOf(found.exchange)) && respondsQuickly(found.exchange) ? found.agent : null;
}

function namedIdleAgents({ agents, triggers }: Target): string[] {
  const { answering, webhooked, remembering, degraded } = agents;
  const triggersDeployments = Object.keys(triggers).length > 0;
  return [remembering, triggersDeployments ? undefined : degraded].flatMap((agent) =>
    agent === undefined || agent === answering || agent === webhooked ? [] : [agent],
  );
}

export interface ExpectedDeliveries {
  readonly address: Hook;
  readonly count: number;
}

/** Maximum time that a target may take to send an event, by its own clock. It may poll its queue every few seconds. */
export const maxQueuedMs = 10_000;
/** Step by which the harness advances the test clock while it waits until the target sends an event. */
export const queueStepMs = 1000;

export const deliveryTimeoutMs = ({ canAdvance, settleMs }: RunClock): number => {
  if (!canAdvance) return maxQueuedMs;
  return settleMs === 0 ? 100 : Math.max(500, settleCount * settleMs);
};

const settleCount = 3;

export const awaitDeliveries = (expected: readonly ExpectedDeliveries[], time: RunClock): Promise<boolean> =>
  awaitQueue(
    async (realMs) =>
      (await Promise.all(expected.map(({ address, count }) => address.waitForDeliveries(count, realMs)))).every(
        Boolean,
      ),
    time,
  );

export const awaitCondition = (isMet: () => boolean, time: RunClock): Promise<boolean> =>
  awaitQueue(async (realMs) => {
    for (let waitedMs = 0; !isMet() && waitedMs < realMs; waitedMs += pollMs) await time.sleepReal(pollMs);
    return isMet();
  }, time);

async function awaitQueue(check: (realMs: number) => Promise<boolean>, time: RunClock): Promise<boolean> {
  // First waits without advancing the test clock. Most deliveries arrive anyway, and some targets advance slowly.
  if (time.settleMs > 0 && (await check(time.settleMs))) return true;
  if (time.canAdvance) await time.passTime(1, inTransit);
  if (await check(deliveryTimeoutMs(time))) return true;
  if (!time.canAdvance) return false;
  for (let advancedMs = 0; advancedMs < maxQueuedMs; advancedMs += queueStepMs) {
    await time.passTime(queueStepMs, "a queued delivery must be sent");
    if (await check(Math.max(pollMs, time.settleMs))) return true;
  }
  return check(time.agentsFollow ? settleCount * time.settleMs : maxQueuedMs);
}

/** Waits long enough for an unexpected delivery to arrive, such as an event that the webhook does not select. */
export async function awaitUnexpected(time: RunClock): Promise<void> {
  if (time.canAdvance) await time.passTime(1, inTransit);
  await time.sleepReal(time.canAdvance ? time.settleMs : unexpectedMs);
}

const inTransit = "deliveries in transit must arrive";
const pollMs = 5;
const unexpectedMs = 500;

export const deliveriesTo = (deliveries: readonly Delivery[], hook: string): Delivery[] =>
  deliveries.filter((each) => each.hook === hook);
