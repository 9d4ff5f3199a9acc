import { encodedSegment } from "../../base/path-segment.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { generateSecret } from "../../evidence/new-secret.ts";
import { type Hook, type Receiver, ReceiverProblem, type Reply } from "../../receiver/receiver.ts";
import { type Client, isSegment } from "../../run/send/client.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { Target } from "../../target/target.ts";
import { isSuccess, member } from "../shared/response.ts";

/** Names of the receiver's addresses that belong to webhooks begin so, which tells what comes there from what comes to alerts. */
export const hookPrefix = "webhook-";

/** Whether the target can reach the receiver, as far as is known before anything came. */
export interface Reach {
  readonly baseUrl: string;
  /** Why the receiver cannot be reached under its public address; `null` where nothing speaks against it. */
  readonly unreachable: string | null;
  /** Somebody promised that the target reaches the receiver; otherwise its silence proves nothing. */
  readonly isNamed: boolean;
}

export const reachOf = async (receiver: Receiver, target: Target): Promise<Reach> => ({
  baseUrl: receiver.baseUrl,
  unreachable: await receiver.reachable(),
  isNamed: target.webhooks?.isReachabilityPromised === true,
});

/** The address to which an agent's first invoke has something sent, where anything is sent at all. */
export const firstHook = `${hookPrefix}wildcard`;

/**
 * As {@link reachOf}, for probes that make no sense where nothing is delivered.
 *
 * @throws {ReceiverProblem} where an agent was invoked before and nothing came, or nothing can come
 */
export async function provenReachOf(receiver: Receiver, target: Target): Promise<Reach> {
  const isSilent = receiver.record().hooks.some(({ name }) => name === firstHook) && receiver.deliveries().length === 0;
  if (isSilent) throw new ReceiverProblem(`nothing has reached the receiver at ${receiver.baseUrl}; see HOOK-8`);
  const reach = await reachOf(receiver, target);
  if (reach.unreachable !== null) throw new ReceiverProblem(reach.unreachable);
  return reach;
}

/** What a webhook is created with. What is left out is not sent. */
export interface WebhookOptions {
  readonly name: string;
  readonly events: readonly string[];
  readonly agent: string | null;
  readonly isSigned: boolean;
  /** What the receiver answers, attempt by attempt. Default 200. */
  readonly replies?: readonly Reply[];
  /** The receiver is told another secret than the target, so that no signature is right. */
  readonly isMismatched?: boolean;
}

/** A webhook that was asked for. */
export interface RequestedWebhook {
  /** Name of the receiver's address. */
  readonly hook: string;
  readonly events: readonly string[];
  readonly agent: string | null;
  readonly exchange: Exchange;
}

/** A webhook that was asked for, with the address that it leads to. */
export interface OpenedWebhook extends RequestedWebhook {
  readonly address: Hook;
}

export const agentIdOf = ({ target }: { readonly target: Target }): string =>
  target.agents.webhooked ?? target.agents.answering ?? "";

/** Opens an address of the receiver and asks the target to send events to it. */
export async function createWebhook(
  client: Client,
  receiver: Receiver,
  wanted: WebhookOptions,
): Promise<OpenedWebhook> {
  const { events, agent, isSigned, isMismatched = false, replies = [{ kind: "status", status: 200 }] } = wanted;
  const secret = isSigned ? generateSecret() : null;
  const address = receiver.open(`${hookPrefix}${wanted.name}`, {
    secret: isMismatched ? generateSecret() : secret,
    replies,
  });
  const exchange = await client.send("POST", "/webhooks", {
    json: {
      url: address.url,
      events,
      ...(agent !== null && { agent_id: agent }),
      ...(secret !== null && { secret }),
    },
  });
  return { hook: address.name, events, agent, exchange, address };
}

/** Without the address, which is no JSON. */
export const requestedWebhookOf = ({ hook, events, agent, exchange }: OpenedWebhook): RequestedWebhook => ({
  hook,
  events,
  agent,
  exchange,
});

/**
 * The id of a webhook that was created: `webhook_id` or `id`, at the top or in the envelope; `null` where there is none, or one that
 * no path can name.
 */
export function webhookIdOf(exchange: Exchange): string | null {
  if (!isSuccess(exchange)) return null;
  const body = bodyJson(exchange);
  const places = [body, member(body, "data"), member(body, "data", "result"), member(body, "webhook")];
  for (const place of places)
    for (const name of ["webhook_id", "id"]) {
      const id = member(place, name);
      if (typeof id === "string" && id !== "") return isSegment(id) ? id : null;
      if (typeof id === "number") return String(id);
    }
  return null;
}

/** Path of a webhook below the base URL. */
export const webhookPath = (id: string, rest = ""): string => `/webhooks/${encodedSegment(id)}${rest}`;

/** How many deliveries an address is to get. */
export interface ExpectedDeliveries {
  readonly address: Hook;
  readonly count: number;
}

/** How long a delivery may take that nothing holds up: a sender may look at its queue only every few seconds. */
const mostQueuedMs = 10_000;
const queueStepMs = 1000;

/** Real time in which a delivery reaches us that was sent already. A clock that needs no time to settle has shown it by the end of a move. */
export const deliveryTimeoutMs = ({ canMove, settleMs }: RunClock): number => {
  if (!canMove) return mostQueuedMs;
  return settleMs === 0 ? 100 : Math.max(500, settlings * settleMs);
};

const settlings = 3;

/** Waits until the deliveries are there. */
export const awaitDeliveries = (expected: readonly ExpectedDeliveries[], time: RunClock): Promise<boolean> =>
  passQueue(
    async (realMs) =>
      (await Promise.all(expected.map(({ address, count }) => address.waitForDeliveries(count, realMs)))).every(
        Boolean,
      ),
    time,
  );

/** Waits until something is to be seen that no single address tells of. */
export const awaitCondition = (isThere: () => boolean, time: RunClock): Promise<boolean> =>
  passQueue(async (realMs) => {
    for (let waitedMs = 0; !isThere() && waitedMs < realMs; waitedMs += shortMs) await time.sleepReal(shortMs);
    return isThere();
  }, time);

/**
 * Looks; where it is not there, lets a sender's time pass, in steps, until it has surely looked at its queue: by the clock that is moved, and by real
 * time too, unless somebody promised that everything follows that clock.
 */
async function passQueue(areThere: (realMs: number) => Promise<boolean>, time: RunClock): Promise<boolean> {
  if (time.canMove) await time.passTime(1, onItsWay);
  if (await areThere(deliveryTimeoutMs(time))) return true;
  if (!time.canMove) return false;
  for (let passedMs = 0; passedMs < mostQueuedMs; passedMs += queueStepMs) {
    await time.passTime(queueStepMs, "a delivery that waits in a queue");
    if (await areThere(Math.max(shortMs, time.settleMs))) return true;
  }
  return areThere(time.agentsFollow ? settlings * time.settleMs : mostQueuedMs);
}

/** Lets what ought not to come have the time to come. The least move of a clock lasts until what is on its way has arrived. */
export async function awaitUnexpected(time: RunClock): Promise<void> {
  if (time.canMove) await time.passTime(1, onItsWay);
  await time.sleepReal(time.canMove ? time.settleMs : quietMs);
}

const onItsWay = "what is on its way";
const shortMs = 5;
const quietMs = 500;

/** What came to one of the receiver's addresses. */
export const deliveriesTo = (deliveries: readonly Delivery[], hook: string): Delivery[] =>
  deliveries.filter((each) => each.hook === hook);
