import { randomUUID } from "node:crypto";

import { messageOf } from "../../base/errors.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { deploymentEvents } from "../../spec/events.ts";
import type { Receiver } from "../../receiver/receiver.ts";
import { type Client, isSegment } from "../../run/send/client.ts";
import { defaultQuery } from "../../run/discovery/answering-agent.ts";
import { need, WaitRefused } from "../../run/skip-reason.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { roleAssignmentOf, type Target } from "../../target/target.ts";
import { eventsOfType, eventTypeOf, isSameEvent } from "./event.ts";
import {
  scriptsFailingFirst,
  hookOfScript,
  failingReceivers,
  type ReceiverScript,
  receiverScripts,
} from "./retry-probe.ts";
import { firstRetryWithinMs, laterRetriesWithinMs } from "./retry-schedule.ts";
import { isSuccess } from "../shared/response.ts";
import { getPath } from "../../base/json.ts";
import {
  agentIdOf,
  type RequestedWebhook,
  requestedWebhookOf,
  createWebhook,
  hookPrefix,
  type OpenedWebhook,
  provenReachOf,
  type Reach,
} from "../webhooks/create-webhook.ts";
import { awaitCondition, deliveriesTo, awaitUnexpected } from "../webhooks/await-deliveries.ts";

type Ending = "agent.failed" | "agent.timeout";

/** What came of an agent whose execution did not end well. */
export interface FailedExecution {
  readonly reach: Reach;
  readonly event: Ending;
  /** Selects the event by its name. */
  readonly named: RequestedWebhook;
  /** Selects `agent.*`. */
  readonly wildcard: RequestedWebhook;
  readonly invoked: Exchange;
  readonly deliveries: readonly Delivery[];
  /** Whether streams that fail have an agent that webhooks of others are tied to: then those are told of the streams, too. */
  readonly hearsStreams: boolean;
}

interface Parts {
  readonly client: Client;
  readonly receiver: Receiver;
  readonly target: Target;
  readonly time: RunClock;
}

async function endBadly(
  { client, receiver, target, time }: Parts,
  event: Ending,
  agent: string,
  invoke: (body: object) => Promise<Exchange>,
): Promise<FailedExecution> {
  const reach = await provenReachOf(receiver, target);
  const open = (name: string, events: readonly string[]): Promise<OpenedWebhook> =>
    createWebhook(client, receiver, { name: `${event.replace(".", "-")}-${name}`, events, agent, isSigned: true });
  const [named, wildcard] = [await open("named", [event]), await open("wildcard", ["agent.*"])];
  const invoked = await invoke({ query: `Hello. ${randomUUID()}` });
  const hasTold = ({ address }: OpenedWebhook): boolean =>
    address.deliveries().some((each) => eventTypeOf(each) === event);
  const created = [named, wildcard].filter(({ exchange }) => isSuccess(exchange));
  if (!isSuccess(invoked)) await awaitCondition(() => created.every(hasTold), time);
  await awaitUnexpected(time);
  const deliveries = [named, wildcard].flatMap(({ address }) => address.deliveries());
  const hearsStreams = streamsFailOn(target, agent);
  return {
    reach,
    event,
    named: requestedWebhookOf(named),
    wildcard: requestedWebhookOf(wildcard),
    invoked,
    deliveries,
    hearsStreams,
  };
}

function streamsFailOn(target: Target, agent: string): boolean {
  const { answering, webhooked } = target.agents;
  const tied = [agent, answering, webhooked];
  const streaming = [roleAssignmentOf(target, "failingInStream"), roleAssignmentOf(target, "overloaded")];
  return streaming.some((player) => player !== null && tied.includes(player.agent));
}

/** Where the receiver is told of an agent that fails in mid-stream. */
const failingStreamName = "agent-failed-stream";
export const failingStreamHook = `${hookPrefix}${failingStreamName}`;

/** What is told of a stream that fails is judged with all deliveries; whether it is told is not asked. */
async function streamBadly({ client, receiver, target, time }: Parts): Promise<void> {
  const player = roleAssignmentOf(target, "failingInStream");
  if (player === null) return;
  const { agent } = player;
  const wanted = { name: failingStreamName, events: ["agent.failed"], agent, isSigned: true };
  const { address, exchange } = await createWebhook(client, receiver, wanted);
  if (!isSuccess(exchange)) return;
  await client.stream(player, { query: `Hello. ${randomUUID()}` }, { noRetry: true });
  await awaitCondition(() => address.deliveries().length > 0, time);
}

export const failingWithWebhooks = probe(
  "a failing agent that has webhooks is invoked",
  { needs: ["receiver", "agents.failing"], requests: 5, stage: "exclusive", creates: { webhooks: 3 } },
  async ({ client, given, target, time }) => {
    const player = given["agents.failing"];
    const parts = { client, receiver: given.receiver, target, time };
    await streamBadly(parts);
    return endBadly(parts, "agent.failed", player.agent, (body) => client.invoke(player, body, { noRetry: true }));
  },
);

/** Longest that an agent's time-out is waited for, on the target's clock. */
const mostTimeoutMs = 60_000;

export const timingOutWithWebhooks = probe(
  "an agent that has webhooks runs into its own timeout",
  {
    needs: ["receiver", "agents.timingOut"],
    requests: 3,
    waits: { mode: "reserved", seconds: mostTimeoutMs / 1000 },
    stage: "exclusive",
    creates: { webhooks: 2 },
  },
  ({ client, given, target, time }) => {
    if (!time.canWait(mostTimeoutMs))
      throw new WaitRefused({ why: "no time left", takes: "an agent's timeout takes up to 60 s" }, need("maxWaitMs"));
    const player = given["agents.timingOut"];
    const parts = { client, receiver: given.receiver, target, time };
    return endBadly(parts, "agent.timeout", player.agent, (body) =>
      time.passUntil(client.invoke(player, body, { noRetry: true }), mostTimeoutMs, timeoutStepMs),
    );
  },
);

const timeoutStepMs = 5000;

export type DeploymentEvent = (typeof deploymentEvents)[number];

/** An event of a deployment that was made to happen. */
export interface TriggeredEvent {
  readonly event: DeploymentEvent;
  /** Why the call that makes it happen failed; `null` where it did not. */
  readonly failure: string | null;
  /** What came from then on. */
  readonly deliveries: readonly Delivery[];
}

/**
 * Makes an event of a deployment happen, and waits until a webhook of the earlier probes tells of it. One that names the agent `isFollowed`: the agent
 * is asked, and what `agent.*` selects of later events of its deployment is listened for.
 */
const triggered = (event: DeploymentEvent, what: string, isFollowed = false) => {
  const trigger = `triggers.${event}` as const;
  return probe(
    `a deployment ${what}, and webhooks are awaited`,
    {
      needs: ["receiver", trigger],
      requests: isFollowed ? 2 : 0,
      stage: "exclusive",
      ...(isFollowed ? { creates: { webhooks: 1 } } : {}),
    },
    async ({ client, given, target, time }): Promise<TriggeredEvent> => {
      const before = given.receiver.deliveries().length;
      const failure = await failureOf(given[trigger]);
      const came = (): Delivery[] => toWebhooks(given.receiver.deliveries().slice(before));
      if (failure === null) await awaitCondition(() => came().some((each) => eventTypeOf(each) === event), time);
      await awaitUnexpected(time);
      const agent = isFollowed && failure === null ? agentTold(came(), event) : null;
      // On a real clock, retries of what webhooks were told of theirs are still to come.
      const isQuiet = time.canAdvance || agent !== agentIdOf({ target });
      if (agent !== null && isQuiet && !isSlow(agent, target)) {
        await client.health(agent);
        await client.invoke(agent, { query: defaultQuery });
        await client.health(agent);
      }
      const deliveries = came();
      const isHeard = agent === null || agent === agentIdOf({ target }) || hasFewRequests(target);
      if (!isHeard) {
        const name = "deployed-wildcard";
        await createWebhook(client, given.receiver, { name, events: ["agent.*"], agent, isSigned: true });
      }
      return { event, failure, deliveries };
    },
  );
};

/** The agent that an event tells of; `null` where none came that names one. */
function agentTold(came: readonly Delivery[], event: DeploymentEvent): string | null {
  const agents = eventsOfType(came, event).map((each) => getPath(deliveryJson(each), "agent_id"));
  return agents.find((agent): agent is string => typeof agent === "string" && isSegment(agent)) ?? null;
}

const isSlow = (agent: string, { agents: { slow, slowStreaming, timingOut } }: Target): boolean =>
  [slow, slowStreaming, timingOut].includes(agent);

async function failureOf(call: () => Promise<void>): Promise<string | null> {
  try {
    await call();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

export const deploymentCreated = triggered("deployment.created", "is created");
export const deploymentUpdated = triggered("deployment.updated", "is updated", true);
export const deploymentHealthChanged = triggered("deployment.health_changed", "changes its health");
export const deploymentDeleted = triggered("deployment.deleted", "is removed");

/** All that came to webhooks during a run. */
export interface AllDeliveries {
  readonly deliveries: readonly Delivery[];
  /** Until when the receiver listened. Milliseconds since the start of the run. */
  readonly untilMs: number;
  /** How far the target's clock had been moved by then. */
  readonly clockMs: number;
  readonly canMove: boolean;
  /** Of each hook that has some, by its name, how many came that the receiver turned away, since it had kept so many. */
  readonly unkept: Readonly<Record<string, number>>;
}

/** Last, so that on a real clock the retries have had all the time that a run has. */
export const allDeliveries = probe(
  "all that came to webhooks is looked over",
  {
    needs: ["receiver"],
    requests: 0,
    waits: { mode: "until exhausted", after: failingReceivers.name, seconds: firstRetryWithinMs / 1000 },
    stage: "review",
  },
  async ({ given: { receiver }, time }): Promise<AllDeliveries> => {
    if (!time.canAdvance) await awaitRetries(receiver, time);
    const deliveries = toWebhooks(receiver.deliveries());
    const unkept = receiver.droppedByHook();
    return { deliveries, untilMs: time.now(), clockMs: time.clockOffsetMs(), canMove: time.canAdvance, unkept };
  },
);

/** Waits on a real clock for as many retries as the run can afford, and no longer than they take. */
async function awaitRetries(receiver: Receiver, time: RunClock): Promise<void> {
  const came = (script: ReceiverScript): Delivery[] => deliveriesTo(receiver.deliveries(), hookOfScript(script));
  const firstMs = Math.max(...receiverScripts.map((script) => came(script)[0]?.receivedMs ?? -Infinity));
  // That nothing follows a success shows only when a retry would be late, so the first retries are no end to this wait.
  const leftMs = (): number => firstMs + firstRetryWithinMs - time.now();
  const isTriedAgain = (script: ReceiverScript): boolean => {
    const [first, ...others] = came(script);
    return first === undefined || others.some((each) => isSameEvent(first, each));
  };
  // All that is left to see is the silence after a success, and that takes longer than is left.
  const isInVain = (): boolean => !time.canWait(leftMs()) && scriptsFailingFirst.every(isTriedAgain);
  while (leftMs() > 0 && time.canWait(stepMs) && !isInVain()) await time.passTime(stepMs, waitedFor);
  for (const [index, ms] of laterRetriesWithinMs.entries()) {
    const areThere = (): boolean => came("failing").length >= index + 3;
    const restMs = (): number => firstMs + ms - time.now();
    if (came("failing").length < index + 2 || (!areThere() && !time.canWait(restMs()))) return;
    while (!areThere() && restMs() > 0) await time.passTime(Math.min(longStepMs, restMs()), waitedFor);
  }
}

const waitedFor = "the retries of a webhook's deliveries";
const stepMs = 1000;
const longStepMs = 30_000;
const toWebhooks = (deliveries: readonly Delivery[]): Delivery[] =>
  deliveries.filter(({ hook }) => hook.startsWith(hookPrefix));
