import { randomUUID } from "node:crypto";

import { getPath } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import type { ProbeContext } from "../../run/probe.ts";
import { usageCountIn } from "../../rules/limits/usage-report.ts";
import { eventsOfType } from "../deliveries/events.ts";
import { describeStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { awaitCondition } from "../webhooks/await-deliveries.ts";
import { agentIdOf } from "../webhooks/create-webhook.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";
import { checkUrlsOf, fillAgentId, pollToEnd, handleOf, startedId } from "./probes.ts";
import { fewRequests, probeIfManyRequests } from "../shared/few-requests.ts";

const since = "1.2";
const batchLength = 11;

/** A batch of eleven queries, and reads of usage before and after it. */
interface LongBatch {
  readonly before: Exchange;
  readonly submitted: Exchange;
  readonly after: Exchange;
  /** Deliveries of `agent.completed` for the queries of the batch. */
  readonly completed: readonly Delivery[];
}

export const longBatchCounted = probeIfManyRequests(
  `a batch of ${batchLength} queries is submitted, and its tokens are counted`,
  {
    needs: ["paths.batch", "agents.answering"],
    requests: 6,
    executions: batchLength,
    stage: "coverage",
    creates: { operations: 1 },
    since,
  },
  async (context): Promise<LongBatch> => {
    const { client, given, target, time } = context;
    // Without a test clock, events of the agent with webhooks would mix with retries of its deliveries.
    const agent = time.canAdvance ? agentIdOf({ target }) : given["agents.answering"];
    const mark = randomUUID();
    const batch = Array.from({ length: batchLength }, () => ({ query: `Hello. ${mark}` }));
    const before = await client.send("GET", "/usage");
    const submitted = await client.send("POST", fillAgentId(given["paths.batch"], agent), { json: { batch } });
    const id = startedId(submitted);
    if (id !== null) await pollToEnd(client, id, time);
    const completed = isSuccess(submitted) ? await awaitCompleted(mark, context) : [];
    return { before, submitted, after: await client.send("GET", "/usage"), completed };
  },
);

/** Waits for `agent.completed` of each query in the batch, and returns one delivery for each execution. */
async function awaitCompleted(mark: string, { receiver, target, time }: ProbeContext): Promise<Delivery[]> {
  if (target.webhooks === null || !time.canAdvance) return [];
  const opened = await receiver();
  const found = (): Delivery[] => {
    const own = eventsOfType(opened.deliveries(), "agent.completed").filter(
      (each) => getPath(deliveryJson(each), "data", "input", "query") === `Hello. ${mark}`,
    );
    return [...new Map(own.map((each) => [requestIdOf(each), each])).values()];
  };
  await awaitCondition(() => found().length >= batchLength, time);
  return found();
}

const requestIdOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "data", "request_id");

/** Creates a judge of the operation handle in the response to the long batch. */
const judgeHandle =
  (judge: (submitted: Exchange) => Finding<never>) =>
  (batch: LongBatch | null): Finding<never> => {
    if (batch === null) return fewRequests;
    const { submitted } = batch;
    // The document names no maximum length of a batch, so a target may reject this one.
    if (!isSuccess(submitted)) return unproven(`the batch was not accepted (${describeStatus(submitted)})`);
    const { operationId, checkUrl, status } = handleOf(submitted);
    return operationId === undefined && checkUrl === undefined && status === undefined
      ? inapplicable("the batch was processed at once")
      : judge(submitted);
  };

/** Judges that the month's tokens grow by as many as the deliveries of the batch report. */
function judgeTokens(batch: LongBatch | null): Finding<never> {
  if (batch === null) return fewRequests;
  const { before, after, completed, submitted } = batch;
  const reported = completed.map((each) => getPath(deliveryJson(each), "data", "tokens_used"));
  const counts = reported.filter((each): each is number => Number.isInteger(each));
  if (counts.length < batchLength)
    return inapplicable(`${counts.length} of ${batchLength} executions reported their tokens in a delivery`);
  const [first, last] = [before, after].map((each) => usageCountIn(bodyJson(each), "tokens"));
  if (first === undefined || last === undefined || first === null || last === null)
    return unproven(`the tokens could not be read (${outcomeOf(before)}, ${outcomeOf(after)})`);
  if (last.used < first.used || last.limit !== first.limit) return unproven("the month changed meanwhile");
  const sum = counts.reduce((total, each) => total + each, 0);
  const grown = last.used - first.used;
  return grown === sum
    ? holds()
    : breach(
        `\`tokens.used\` grows by ${sum}, the \`tokens_used\` of ${batchLength} deliveries of a batch`,
        `it grew by ${grown}`,
        submitted,
        after,
        ...completed.slice(0, 1),
      );
}

export const longBatchChecks: readonly Check[] = [
  check(
    "OPS-1",
    longBatchCounted,
    judgeHandle((submitted) => {
      const { operationId } = handleOf(submitted);
      return typeof operationId === "string"
        ? holds()
        : breach("`operation_id`, a string", describeHandle(submitted), submitted);
    }),
    { as: "long batch", since },
  ),
  check(
    "OPS-2",
    longBatchCounted,
    judgeHandle((submitted) =>
      handleOf(submitted).status === "pending"
        ? holds()
        : breach("`status` is `pending`", describeHandle(submitted), submitted),
    ),
    { as: "long batch", since },
  ),
  check(
    "OPS-3",
    longBatchCounted,
    judgeHandle((submitted) => {
      const { operationId, checkUrl } = handleOf(submitted);
      if (typeof operationId !== "string") return unproven("there is no `operation_id` to compare it with (OPS-1)");
      return checkUrlsOf(submitted, operationId).some((each) => each === checkUrl)
        ? holds()
        : breach(`\`check_url\` is "/v1/operations/${operationId}"`, describeHandle(submitted), submitted);
    }),
    { as: "long batch", since },
  ),
];

const describeHandle = (submitted: Exchange): string => {
  const { operationId, status, checkUrl } = handleOf(submitted);
  return JSON.stringify({ operation_id: operationId, status, check_url: checkUrl });
};

/** Check of the month's tokens after a batch. The suite `usage` includes it. */
export const batchTokensCheck = check(
  "USE-8",
  { batch: longBatchCounted, sent: invokedWithWebhooks },
  ({ batch }) => judgeTokens(batch),
  {
    as: "batch",
    since,
  },
);
