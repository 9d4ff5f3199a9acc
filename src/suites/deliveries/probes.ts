import { randomUUID } from "node:crypto";

import { memoizeByPair } from "../../base/memoize.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Receiver } from "../../receiver/receiver.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import type { OutageMonitor } from "../../run/send/outages.ts";
import { need, WaitRefused } from "../../run/skip-reason.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { isAddedAfter, type RequirementSet } from "../../spec/clause.ts";
import { roleAssignmentOf, type Target } from "../../target/target.ts";
import { isSuccess } from "../shared/response.ts";
import {
  awaitCondition,
  awaitUnexpected,
  createWebhook,
  deliveriesTo,
  hookPrefix,
  type OpenedWebhook,
  reachOrThrow,
  type ReceiverReach,
  type RequestedWebhook,
  requestedWebhookOf,
} from "../webhooks/create-webhook.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";
import { isRedirected, isSameEvent, isToWebhook, type AllDeliveries, eventsOfType } from "./events.ts";
import {
  failingReceivers,
  hookOfScript,
  type ReceiverScript,
  receiverScripts,
  scriptsFailingFirst,
} from "./retry-probe.ts";
import { failingBatchSubmitted, streamsTimedOut } from "./unusual-ends.ts";
import { firstRetryWithinMs, laterRetriesWithinMs } from "./retry-schedule.ts";
import { maxTimeoutMs, timeoutStepMs } from "../limits/timeouts.ts";

interface FailedExecution {
  readonly reach: ReceiverReach;
  readonly event: "agent.failed" | "agent.timeout";
  readonly named: RequestedWebhook;
  readonly wildcard: RequestedWebhook;
  readonly invoked: Exchange;
  readonly deliveries: readonly Delivery[];
  readonly hearsStreams: boolean;
}

type FailureContext = Pick<ProbeContext<"receiver">, "client" | "given" | "target" | "time">;

async function failWithWebhooks(
  { client, given: { receiver }, target, time }: FailureContext,
  event: FailedExecution["event"],
  agent: string,
  invoke: (body: object) => Promise<Exchange>,
): Promise<FailedExecution> {
  const reach = await reachOrThrow(receiver, target);
  const open = (name: string, events: readonly string[]): Promise<OpenedWebhook> =>
    createWebhook(client, receiver, { name: `${event.replace(".", "-")}-${name}`, events, agent });
  const [named, wildcard] = [await open("named", [event]), await open("wildcard", ["agent.*"])];
  const invoked = await invoke({ query: `Hello. ${randomUUID()}` });
  const gotEvent = ({ address }: OpenedWebhook): boolean => eventsOfType(address.deliveries(), event).length > 0;
  const created = [named, wildcard].filter(({ exchange }) => isSuccess(exchange));
  if (!isSuccess(invoked)) await awaitCondition(() => created.every(gotEvent), time);
  await awaitUnexpected(time);
  return {
    reach,
    event,
    named: requestedWebhookOf(named),
    wildcard: requestedWebhookOf(wildcard),
    invoked,
    deliveries: [named, wildcard].flatMap(({ address }) => address.deliveries()),
    hearsStreams: streamsFailOn(target, agent),
  };
}

function streamsFailOn(target: Target, agent: string): boolean {
  const { answering, webhooked } = target.agents;
  const withWebhooks = [agent, answering, webhooked];
  const streaming = [roleAssignmentOf(target, "failingInStream"), roleAssignmentOf(target, "overloaded")];
  return streaming.some((assignment) => assignment !== null && withWebhooks.includes(assignment.agent));
}

const failingStreamName = "agent-failed-stream";
export const failingStreamHook = `${hookPrefix}${failingStreamName}`;

async function failInStream({ client, given: { receiver }, target, time }: FailureContext): Promise<void> {
  const assignment = roleAssignmentOf(target, "failingInStream");
  if (assignment === null) return;
  const { agent } = assignment;
  const options = { name: failingStreamName, events: ["agent.failed"], agent };
  const { address, exchange } = await createWebhook(client, receiver, options);
  if (!isSuccess(exchange)) return;
  await client.stream(assignment, { query: `Hello. ${randomUUID()}` }, { noRetry: true });
  await awaitCondition(() => address.deliveries().length > 0, time);
}

export const failingWithWebhooks = probe(
  "a failing agent that has webhooks is invoked",
  {
    needs: ["receiver", "agents.failing"],
    requests: 5,
    executions: 2,
    stage: "exclusive",
    // The batch runs before this probe. Otherwise, the batch's events would reach this probe's webhooks.
    after: [failingBatchSubmitted],
    creates: { webhooks: 3 },
  },
  async (context) => {
    const assignment = context.given["agents.failing"];
    await failInStream(context);
    return failWithWebhooks(context, "agent.failed", assignment.agent, (body) =>
      context.client.invoke(assignment, body, { noRetry: true }),
    );
  },
);

export const timingOutWithWebhooks = probe(
  "an agent that has webhooks runs into its own timeout",
  {
    needs: ["receiver", "agents.timingOut"],
    requests: 3,
    executions: 1,
    waits: { mode: "reserved", seconds: maxTimeoutMs / 1000 },
    stage: "exclusive",
    // The timed-out streams run before this probe. Otherwise, their events would reach this probe's webhooks.
    after: [streamsTimedOut],
    creates: { webhooks: 2 },
  },
  (context) => {
    const { client, given, time } = context;
    if (!time.canWait(maxTimeoutMs))
      throw new WaitRefused({ why: "no time left", takes: "an agent's timeout takes up to 60 s" }, need("maxWaitMs"));
    const assignment = given["agents.timingOut"];
    return failWithWebhooks(context, "agent.timeout", assignment.agent, (body) =>
      time.passUntil(client.invoke(assignment, body, { noRetry: true }), maxTimeoutMs, timeoutStepMs),
    );
  },
);

const deliveriesOfSet = memoizeByPair((all: AllDeliveries, requirements: RequirementSet): AllDeliveries => {
  const deliveries = all.deliveries.filter(({ since }) => !isAddedAfter(requirements, since));
  return deliveries.length === all.deliveries.length ? all : { ...all, deliveries };
});

/** Runs last, because retries may arrive until the end of the run. */
export const allDeliveries = probe(
  "all that came to webhooks is looked over",
  {
    needs: ["receiver"],
    requests: 0,
    waits: { mode: "until exhausted", after: failingReceivers.name, seconds: firstRetryWithinMs / 1000 },
    stage: "review",
    narrow: deliveriesOfSet,
  },
  async ({ given: { receiver }, target: { webhooks }, time, outages }): Promise<AllDeliveries> => {
    if (!time.canAdvance) await awaitRetries(receiver, time, outages);
    return {
      deliveries: receiver.deliveries().filter(isToWebhook),
      redirected: receiver.deliveries().filter(isRedirected),
      untilMs: time.now(),
      clockMs: time.clockOffsetMs(),
      canMove: time.canAdvance,
      unkept: receiver.droppedByHook(),
      refusedConnections: receiver.refusedConnections(),
      ...(webhooks?.sources && { sources: webhooks.sources }),
      hasPublicUrl: typeof webhooks?.publicUrl === "string",
    };
  },
);

export const webhookProbes = { sent: invokedWithWebhooks, all: allDeliveries };

async function awaitRetries(receiver: Receiver, time: RunClock, outages: OutageMonitor): Promise<void> {
  const attempts = (script: ReceiverScript): Delivery[] => deliveriesTo(receiver.deliveries(), hookOfScript(script));
  const firstMs = Math.max(...receiverScripts.map((script) => attempts(script)[0]?.receivedMs ?? -Infinity));
  // Whether to stop waiting: after an outage, the target may have lost its pending deliveries.
  const isForgotten = (): boolean => outages.isDead() || outages.all().some(({ fromMs }) => fromMs > firstMs);
  const leftMs = (): number => firstMs + firstRetryWithinMs - time.now();
  const isRetried = (script: ReceiverScript): boolean => {
    const [first, ...others] = attempts(script);
    return first === undefined || others.some((each) => isSameEvent(first, each));
  };
  const isPointless = (): boolean => isForgotten() || (!time.canWait(leftMs()) && scriptsFailingFirst.every(isRetried));
  while (leftMs() > 0 && time.canWait(stepMs) && !isPointless()) await time.passTime(stepMs, waitedFor);
  for (const [index, ms] of laterRetriesWithinMs.entries()) {
    const hasNext = (): boolean => attempts("failing").length >= index + 3;
    const restMs = (): number => firstMs + ms - time.now();
    if (isForgotten() || attempts("failing").length < index + 2 || (!hasNext() && !time.canWait(restMs()))) return;
    while (!hasNext() && !isForgotten() && restMs() > 0) await time.passTime(Math.min(longStepMs, restMs()), waitedFor);
  }
}

const waitedFor = "the retries of a webhook's deliveries";
const stepMs = 1000;
const longStepMs = 30_000;
