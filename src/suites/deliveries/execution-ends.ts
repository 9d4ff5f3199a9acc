import { getPath } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { type Exchange, sentJson } from "../../evidence/exchange.ts";
import { type Check, check, type EvidenceOf } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { tokensIn } from "../limits/beyond-quota.ts";
import { fillAgentId, longBatchTokensCounted, queryOfDelivery, reportedQuery } from "../operations/probes.ts";
import { slowAgentWithWebhookInvoked } from "../relations/probes.ts";
import { agentInPath, allExchanges, exchangesOf } from "../shared/all-exchanges.ts";
import { inapplicableForFewRequests, probeIfManyRequests } from "../shared/few-requests.ts";
import { isComplete, isSuccess, outcomeOf } from "../shared/response.ts";
import { eventsOf, isEventStream } from "../stream/events.ts";
import { deliveriesTo, hookPrefix } from "../webhooks/create-webhook.ts";
import { eventsOfType, receiverOverflowExcuse } from "./events.ts";
import { allDeliveries, failingStreamHook, failingWithWebhooks } from "./probes.ts";
import { failingBatchSubmitted, streamsTimedOut } from "./unusual-ends.ts";
import { randomUUID } from "node:crypto";
import { maxStreamSeconds } from "../shared/durations.ts";

// This file judges the events that report the end of streams and batches, e.g. `agent.completed`. A server may send no
// events for streams or batches. Then the checks are inapplicable.

const since = "1.2";

const endTypes = ["agent.completed", "agent.failed", "agent.timeout"] as const;

const endsIn = (deliveries: readonly Delivery[]): Delivery[] =>
  endTypes.flatMap((type) => eventsOfType(deliveries, type));

const hasEnded = (stream: Exchange, last: "done" | "error"): boolean =>
  isSuccess(stream) && isEventStream(stream) && isComplete(stream) && eventsOf(stream).at(-1)?.name === last;

const slowHook = `${hookPrefix}slow-agent`;

const streamProbes = { slow: slowAgentWithWebhookInvoked, timedOut: streamsTimedOut, all: allDeliveries };
type StreamEvidence = EvidenceOf<typeof streamProbes>;

const streamReported = ({ slow, timedOut, all }: StreamEvidence): Delivery | undefined =>
  eventsOfType(timedOut?.byWildcard ?? [], "agent.invoked")[0] ?? completedOfSlow(slow.streamed, all.deliveries)[0];

const completedOfSlow = ({ request }: Exchange, deliveries: readonly Delivery[]): Delivery[] =>
  eventsOfType(deliveriesTo(deliveries, slowHook), "agent.completed").filter(
    (each) => reportedQuery(each) === getPath(sentJson(request), "query"),
  );

function judgeCompletedStream(evidence: StreamEvidence): Finding<never> {
  const { slow, all } = evidence;
  if (!hasEnded(slow.streamed, "done"))
    return inapplicable(`no whole stream with \`done\` (${outcomeOf(slow.streamed)})`);
  if (completedOfSlow(slow.streamed, all.deliveries).length > 0) return holds();
  const [control] = completedOfSlow(slow.invoked, all.deliveries);
  const known = streamReported(evidence);
  if (control === undefined || known === undefined)
    return inapplicable("no delivery shows that the target reports streams and their queries to webhooks");
  return (
    receiverOverflowExcuse(all, [{ hook: slowHook }]) ??
    breach(
      "`agent.completed` after a stream with `done`, as after an invoke",
      "none came",
      slow.streamed,
      control,
      known,
    )
  );
}

const failedStreamProbes = { ...streamProbes, failing: failingWithWebhooks, exchanges: allExchanges };

function judgeFailedStream(evidence: EvidenceOf<typeof failedStreamProbes>): Finding<never> {
  const { all, exchanges } = evidence;
  const created = exchangesOf(exchanges, "webhooks").find((each) =>
    String(getPath(sentJson(each.request), "url")).endsWith(`/${failingStreamHook}`),
  );
  if (created === undefined || !isSuccess(created))
    return inapplicable("no webhook of an agent that fails in a stream");
  const agent = getPath(sentJson(created.request), "agent_id");
  const failed = exchangesOf(exchanges, "stream").find(
    (each) => agentInPath(each) === agent && each.sentMs > created.sentMs && hasEnded(each, "error"),
  );
  if (failed === undefined) return inapplicable("no whole stream ended with `error` after the webhook was created");
  const query = getPath(sentJson(failed.request), "query");
  const ends = endsIn(deliveriesTo(all.deliveries, failingStreamHook));
  // An event without a query also counts: it can belong to this stream.
  if (ends.some((each) => [query, undefined].includes(reportedQuery(each)))) return holds();
  const known = streamReported(evidence);
  if (known === undefined) return inapplicable("no delivery shows that the target reports streams to webhooks");
  return (
    receiverOverflowExcuse(all, [{ hook: failingStreamHook }]) ??
    breach("`agent.failed` after a stream with `error`", "none came", failed, created, known)
  );
}

const batchProbes = { batch: longBatchTokensCounted, all: allDeliveries };

function judgeBatch({ batch, all }: EvidenceOf<typeof batchProbes>): Finding<never> {
  if (batch === null) return inapplicableForFewRequests;
  const { before, submitted, after } = batch;
  const query = getPath(sentJson(submitted.request), "batch", "0", "query");
  const own = all.deliveries.filter((each) => reportedQuery(each) === query);
  const [begun] = eventsOfType(own, "agent.invoked");
  if (begun === undefined) return inapplicable("no `agent.invoked` of a batch names its query");
  if (endsIn(own).length > 0) return holds();
  const [first, last] = [tokensIn(before, "used"), tokensIn(after, "used")];
  if (first === null || last === null || last <= first) return unproven("no usage shows that an entry has run");
  return (
    receiverOverflowExcuse(all, [begun]) ??
    breach("`agent.completed` of a batch whose tokens were used", "only `agent.invoked`", begun, submitted, after)
  );
}

const failedBatchProbes = { failed: failingBatchSubmitted, all: allDeliveries };

function judgeFailureReported({ failed, all }: EvidenceOf<typeof failedBatchProbes>): Finding<never> {
  if (failed === null) return inapplicable("no batch was sent to a failing agent");
  const [begun] = eventsOfType(failed.deliveries, "agent.invoked");
  const query = getPath(sentJson(failed.submitted.request), "batch", "0", "query");
  // Also searches later deliveries: the `agent.failed` event of a slow agent can arrive after the probe has ended.
  const later = all.deliveries.filter((each) => each.hook === begun?.hook && reportedQuery(each) === query);
  if (eventsOfType([...failed.deliveries, ...later], "agent.failed").length > 0) return holds();
  return begun === undefined
    ? inapplicable("no event of a batch came")
    : breach("`agent.failed` after a batch that fails", "only `agent.invoked`", begun, failed.submitted);
}

export const executionEndChecks: readonly Check[] = [
  check("HOOK-8", streamProbes, judgeCompletedStream, { as: "stream", since }),
  check("HOOK-8", batchProbes, judgeBatch, { as: "batch", since }),
  check("HOOK-9", failedStreamProbes, judgeFailedStream, { as: "stream", since }),
  check("HOOK-9", failedBatchProbes, judgeFailureReported, { as: "batch", since }),
];

interface SlowBatch {
  readonly submitted: Exchange;
  readonly completed: Delivery | null;
}

const maxSlowMs = 35_000;
const [maxWaitMs, pollMs] = [8000, 10];

const slowBatched = probeIfManyRequests(
  "a slow agent that has a webhook runs a batch",
  {
    needs: ["receiver", "paths.batch", "agents.slow"],
    requests: 1,
    executions: 1,
    stage: "coverage",
    after: [slowAgentWithWebhookInvoked],
    creates: { operations: 1 },
    since: "1.2",
  },
  async ({ client, given, time }): Promise<SlowBatch | null> => {
    const { receiver, "agents.slow": slow, "paths.batch": path } = given;
    const arrived = (): Delivery[] => eventsOfType(deliveriesTo(receiver.deliveries(), slowHook), "agent.completed");
    if (arrived().length === 0) return null;
    const query = `Hello. ${randomUUID()}`;
    const submitted = await client.send("POST", fillAgentId(path, slow.agent), { json: { batch: [{ query }] } });
    const find = (): Delivery | null => arrived().find((each) => queryOfDelivery(each) === query) ?? null;
    const awaitCompleted = async (): Promise<void> => {
      for (let ms = 0; ms < maxWaitMs && find() === null; ms += pollMs) await time.sleepReal(pollMs);
    };
    if (isSuccess(submitted)) await time.awaitAgent(awaitCompleted(), maxSlowMs);
    return { submitted, completed: find() };
  },
);

/** Judges that `execution_time` is in seconds: it must not exceed the seconds from submission to delivery. */
function judgeBatchTime(batch: SlowBatch | null): Finding<never> {
  const seconds = batch?.completed && getPath(deliveryJson(batch.completed), "data", "execution_time");
  if (!batch?.completed || typeof seconds !== "number")
    return inapplicable("no `agent.completed` of a slow agent's batch has an `execution_time`");
  const { submitted, completed } = batch;
  const tookMs = completed.receivedMs - submitted.sentMs + completed.clockAtMostMs - submitted.clockMs;
  if (seconds <= maxStreamSeconds(tookMs)) return holds();
  return breach(
    "`data.execution_time`, in seconds",
    `${seconds}, although the delivery came ${(tookMs / 1000).toFixed(3)} s after the batch`,
    submitted,
    completed,
  );
}

export const batchTimeCheck = check("HOOK-17", slowBatched, judgeBatchTime, { as: "batch", since: "1.2" });
