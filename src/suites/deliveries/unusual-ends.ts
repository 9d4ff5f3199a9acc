import { randomUUID } from "node:crypto";

import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { fieldMismatch } from "../../rules/bodies/fields.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { probe } from "../../run/probe.ts";
import {
  type InvokeAfterEnds,
  invokeAfterEnds,
  invokesTimedOut,
  judgeFreedSlots,
  keyForSlotTests,
  maxTimeoutMs,
  timeoutStepMs,
} from "../limits/timeouts.ts";
import { fillAgentId } from "../operations/probes.ts";
import { hasStatus, isSuccess, outcomeOf, isComplete } from "../shared/response.ts";
import { eventsOf, isEventStream, describeSequence } from "../stream/events.ts";
import {
  awaitCondition,
  awaitUnexpected,
  createWebhook,
  type OpenedWebhook,
  reachOrThrow,
  type RequestedWebhook,
  requestedWebhookOf,
} from "../webhooks/create-webhook.ts";
import { eventsOfType } from "./events.ts";
import { probeIfManyRequests } from "../shared/few-requests.ts";

const since = "1.2";
interface FailedBatch {
  readonly submitted: Exchange;
  readonly deliveries: readonly Delivery[];
}

export const failingBatchSubmitted = probeIfManyRequests(
  "a failing agent that has a webhook gets a batch",
  {
    needs: ["receiver", "paths.batch", "agents.failing"],
    requests: 2,
    executions: 1,
    stage: "exclusive",
    creates: { webhooks: 1, operations: 1 },
    since,
  },
  async ({ client, given, target, time }): Promise<FailedBatch | null> => {
    const { agent, body, path } = given["agents.failing"];
    if (path !== null) return null;
    await reachOrThrow(given.receiver, target);
    const options = { name: "failed-batch", events: ["agent.invoked", "agent.failed"], agent, since } as const;
    const { address } = await createWebhook(client, given.receiver, options);
    const batch = [{ ...body, query: `Hello. ${randomUUID()}` }];
    const submitted = await client.send("POST", fillAgentId(given["paths.batch"], agent), { json: { batch } });
    if (isSuccess(submitted))
      await awaitCondition(() => eventsOfType(address.deliveries(), "agent.failed").length > 0, time);
    return { submitted, deliveries: [...address.deliveries()] };
  },
);

function judgeFailedBatch(failed: FailedBatch | null): Finding<never> {
  if (failed === null) return inapplicable("no batch was sent to a failing agent");
  const events = eventsOfType(failed.deliveries, "agent.failed");
  if (events.length === 0)
    return inapplicable(`no \`agent.failed\` came after the batch (${outcomeOf(failed.submitted)})`);
  for (const delivery of events) {
    const mismatch = fieldMismatch("failed", "HOOK-18", deliveryJson(delivery));
    if (mismatch !== null && mismatch !== undefined)
      return breach(mismatch.expected, `${mismatch.actual} after a batch`, delivery, failed.submitted);
  }
  return holds();
}

interface TimedOutStreams extends InvokeAfterEnds {
  readonly named: RequestedWebhook;
  readonly wildcard: RequestedWebhook;
  readonly streams: readonly Exchange[];
  readonly byName: readonly Delivery[];
  readonly byWildcard: readonly Delivery[];
}

export const streamsTimedOut = probe(
  "streams of an agent with webhooks run into its timeout, and the key is used again",
  {
    needs: ["receiver", "agents.timingOut", "agents.answering"],
    requests: (target) => (keyForSlotTests(target) === null ? 0 : 2),
    executions: (target) => (keyForSlotTests(target)?.slots ?? -1) + 1,
    waits: { mode: "reserved", seconds: 0 },
    keys: (target) => [keyForSlotTests(target)?.key ?? []].flat(),
    stage: "exclusive",
    // The timed-out invokes run before this probe. Otherwise, their events would reach this probe's webhooks.
    after: [invokesTimedOut],
    creates: { webhooks: 2 },
    createsFew: {},
    since,
  },
  async ({ client, given, target, time }): Promise<TimedOutStreams | null> => {
    const smallest = keyForSlotTests(target);
    if (smallest === null) return null;
    await reachOrThrow(given.receiver, target);
    const assignment = given["agents.timingOut"];
    const open = (name: string, events: readonly string[]): Promise<OpenedWebhook> =>
      createWebhook(client, given.receiver, {
        name: `timed-out-stream-${name}`,
        events,
        agent: assignment.agent,
        since,
      });
    const [named, any] = [await open("named", ["agent.timeout"]), await open("any", ["agent.*"])];
    const own = client.as(smallest.key);
    const opened = Array.from({ length: smallest.slots }, () =>
      own.stream(assignment, { query: `Hello. ${randomUUID()}` }, { noRetry: true }),
    );
    // The pacer uses only half of a key's slots: one stream at a time for 2 or 3 slots. Each can take 60 s.
    const streams = await time.passUntil(Promise.all(opened), maxTimeoutMs * smallest.slots, timeoutStepMs);
    const afterEnds = await invokeAfterEnds(own, given["agents.answering"], time);
    const isReported = (): boolean => eventsOfType(named.address.deliveries(), "agent.timeout").length > 0;
    if (isSuccess(named.exchange)) await awaitCondition(isReported, time);
    await awaitUnexpected(time);
    return {
      named: requestedWebhookOf(named),
      wildcard: requestedWebhookOf(any),
      streams,
      ...afterEnds,
      byName: [...named.address.deliveries()],
      byWildcard: [...any.address.deliveries()],
    };
  },
);

const streamsNotSent = inapplicable("no key of few slots, or no test clock");

const hasTimedOut = (stream: Exchange): boolean =>
  isEventStream(stream) && eventsOf(stream).at(-1)?.name === "error" && !hasStatus(stream, 429);

function judgeSlots(timedOut: TimedOutStreams | null): Finding<never> {
  if (timedOut === null) return streamsNotSent;
  const { streams } = timedOut;
  const cut = streams.find((each) => !hasTimedOut(each));
  if (cut !== undefined)
    return unproven(
      `not every stream ran into the timeout (${isEventStream(cut) ? describeSequence(cut) : outcomeOf(cut)})`,
    );
  return judgeFreedSlots(timedOut, streams, "a stream that runs into the timeout");
}

function judgeWildcard(timedOut: TimedOutStreams | null): Finding<never> {
  if (timedOut === null) return streamsNotSent;
  const { named, wildcard, byName, byWildcard } = timedOut;
  if (!isSuccess(named.exchange) || !isSuccess(wildcard.exchange))
    return unproven(`no webhook was created (${outcomeOf(named.exchange)}, ${outcomeOf(wildcard.exchange)})`);
  const [known] = eventsOfType(byName, "agent.timeout");
  if (known === undefined) return inapplicable("the webhook that names `agent.timeout` got none after a stream");
  return eventsOfType(byWildcard, "agent.timeout").length > 0
    ? holds()
    : breach(
        "`agent.timeout` of a stream also to the webhook of `agent.*`",
        "only to the webhook that names it",
        known,
      );
}

function judgeTimeoutReported(timedOut: TimedOutStreams | null): Finding<never> {
  if (timedOut === null) return streamsNotSent;
  const { streams, wildcard, byName, byWildcard } = timedOut;
  const [stream] = streams.filter((each) => hasTimedOut(each) && isComplete(each));
  if (stream === undefined || !isSuccess(wildcard.exchange))
    return unproven("no stream ran into the timeout and was ended by the target");
  const all = [...byName, ...byWildcard];
  if (["agent.timeout", "agent.failed"].some((type) => eventsOfType(all, type).length > 0)) return holds();
  return eventsOfType(all, "agent.invoked").length > 0
    ? breach("`agent.timeout` after a stream that ran into the timeout", "only `agent.invoked`", stream)
    : inapplicable("no event of a stream came");
}

export const unusualEndChecks: readonly Check[] = [
  check("HOOK-18", failingBatchSubmitted, judgeFailedBatch, { as: "batch", since }),
  check("HOOK-10", streamsTimedOut, judgeTimeoutReported, { as: "stream", since }),
  check("HOOK-16", streamsTimedOut, judgeWildcard, { as: "agent.timeout of a stream", since }),
];

/** Checks LIM-17: a request that times out frees its concurrency slot. */
export const timedOutSlotsCheck = check("LIM-17", streamsTimedOut, judgeSlots, {
  as: "streams that time out",
  since,
});
