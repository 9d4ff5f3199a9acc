import { randomUUID } from "node:crypto";
import { sumOf } from "../../base/numbers.ts";
import { encodedSegment, isSegment } from "../../base/http.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { defaultQuery } from "../../run/discovery/discover-target.ts";
import type { Client } from "../../run/send/client.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { waitIfAllowed } from "../limits/exhaust.ts";
import { fieldsOf, hasStatus, isInconclusive, isSuccess } from "../shared/response.ts";
import { formatValue, getPath } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { eventsOfType } from "../deliveries/events.ts";
import { agentIdOf, awaitCondition } from "../webhooks/create-webhook.ts";
import { probeIfManyRequests } from "../shared/few-requests.ts";
import { unusualEntry } from "../stream/unusual-probes.ts";
import type { Mismatch } from "../../rules/bodies/errors.ts";

interface OperationHandle {
  readonly operationId: unknown;
  readonly status: unknown;
  readonly checkUrl: unknown;
}

export interface BatchSubmitted {
  readonly path: string | null;
  readonly submitted: Exchange | null;
  readonly started?: Exchange | null;
  readonly polls: readonly Exchange[];
  readonly control: Exchange;
}

const queries = [defaultQuery, "Good evening. Please answer in a few words."] as const;

/** Wait before each poll of an operation, from the first to the last: `advanced` with a test clock, `real` without. */
const pollWaitsMs = { advanced: [0, 1000, 5000, 15_000, 40_000, 60_000, 180_000], real: [0, 500, 1500, 3000] } as const;

/** Maximum number of polls that `pollToEnd` sends without a test clock. */
export const maxRealPolls = pollWaitsMs.real.length;

export const pollWaits = { mode: "optional", seconds: sumOf(pollWaitsMs.real) / 1000 } as const;

export const batchSubmitted = probe(
  "a batch of two queries is submitted, and another one, and the first is followed to its end",
  {
    needs: ["paths.start", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? 5 : 6) + Number(target.paths.operation !== null),
    waits: pollWaits,
    stage: "exclusive",
    creates: { operations: 2 },
  },
  async ({ client, given, time, target }): Promise<BatchSubmitted> => {
    const agent = given["agents.answering"];
    const { batch: path, operation } = given["paths.start"];
    const post = (to: string | null, json: object): Promise<Exchange> | null =>
      to === null ? null : client.send("POST", fillAgentId(to, agent), { json });
    const control = await client.invoke(agent, { query: queries[0] });
    const submitted = await post(path, { batch: queries.map((query) => ({ query })) });
    const started = await post(operation, { query: queries[0] });
    // Submits a batch of one query, so that the checks of operation handles judge a second response to a batch.
    if (submitted !== null && isSuccess(submitted) && !hasFewRequests(target))
      await post(path, { batch: [{ query: defaultQuery }] });
    const id = [submitted, started].flatMap((each) => startedId(each) ?? [])[0];
    const polls = id === undefined ? [] : await pollToEnd(client, id, time);
    return { path, submitted, started, polls, control };
  },
);

const longBatch = [defaultQuery, ...queries];

export const longBatchSubmitted = probeIfManyRequests(
  "a batch of three queries is submitted, and followed to its end",
  {
    since: "1.1",
    needs: ["paths.batch", "agents.answering"],
    requests: 4,
    executions: longBatch.length,
    waits: pollWaits,
    stage: "coverage",
    creates: { operations: 1 },
  },
  async ({ client, given, time }): Promise<{ readonly submitted: Exchange }> => {
    const path = fillAgentId(given["paths.batch"], given["agents.answering"]);
    const submitted = await client.send("POST", path, { json: { batch: longBatch.map((query) => ({ query })) } });
    const id = startedId(submitted);
    // Polls the operation, so that its executions usually end before the next probe counts executions.
    if (id !== null) await pollToEnd(client, id, time);
    return { submitted };
  },
);

/** Returns the id of a started operation; `null` if the response has no id that can be part of a path. */
export function startedId(exchange: Exchange | null): string | null {
  const id = exchange !== null && isSuccess(exchange) ? handleOf(exchange).operationId : undefined;
  return typeof id === "string" && isSegment(id) ? id : null;
}

export const fillAgentId = (path: string, agent: string): string =>
  path.replaceAll("{agent_id}", encodedSegment(agent));

export async function pollToEnd(client: Client, id: string, time: RunClock): Promise<Exchange[]> {
  const polls: Exchange[] = [];
  for (const ms of time.canAdvance ? pollWaitsMs.advanced : pollWaitsMs.real) {
    if (!(await waitIfAllowed(time, ms, "the operation is pending"))) break;
    // Advancing the test clock gives the target no real time to process the operation.
    if (time.canAdvance && polls.length > 0) await time.sleepReal(time.settleMs);
    const poll = await client.send("GET", `/operations/${encodedSegment(id)}`);
    polls.push(poll);
    if (!isPending(poll)) break;
  }
  return polls;
}

const pendingStatus =
  /^(pending|queued|accepted|created|scheduled|submitted|starting|started|running|processing|in[ _-]?progress|working)$/i;

function isPending(poll: Exchange): boolean {
  const state = stateOf(poll);
  return statusOf(poll) === 429 || (typeof state === "string" && pendingStatus.test(state));
}

export function stateOf(poll: Exchange): unknown {
  return isSuccess(poll) ? getPath(fieldsOf(poll, operationHandleFields), "status") : undefined;
}

const operationHandleFields = ["operation_id", "check_url"] as const;

export function handleOf(exchange: Exchange): OperationHandle {
  const fields = fieldsOf(exchange, operationHandleFields);
  return {
    operationId: getPath(fields, "operation_id"),
    status: getPath(fields, "status"),
    checkUrl: getPath(fields, "check_url"),
  };
}

/** Returns the accepted values of `check_url`: `/v1/operations/ID`, with or without the request's path before `/v1`. */
function checkUrlsOf({ request: { url } }: Exchange, operationId: string): string[] {
  const prefix = new URL(url).pathname.replace(/\/v1\/.*$/, "");
  return [operationId, encodedSegment(operationId)].flatMap((id) => [
    `/v1/operations/${id}`,
    `${prefix}/v1/operations/${id}`,
  ]);
}

export const batchLength = 11;
export const plainStart = "Hello. ";

export interface LongBatch {
  readonly before: Exchange;
  readonly submitted: Exchange;
  readonly after: Exchange;
  readonly completed: readonly Delivery[];
  readonly unusual?: Exchange;
}

export const longBatchTokensCounted = probeIfManyRequests(
  `a batch of ${batchLength} queries is submitted, and its tokens are counted`,
  {
    needs: ["paths.batch", "agents.answering"],
    requests: 6,
    executions: batchLength,
    stage: "coverage",
    creates: { operations: 1 },
    since: "1.2",
  },
  async (context): Promise<LongBatch> => {
    const { client, given, target, time } = context;
    // Without a test clock, avoids the agent `agents.webhooked`: retries of its deliveries could mix with new ones.
    const agent = time.canAdvance ? agentIdOf({ target }) : given["agents.answering"];
    const mark = randomUUID();
    const plain = Array.from({ length: batchLength }, () => ({ query: `${plainStart}${mark}` }));
    const submit = (batch: readonly object[]): Promise<Exchange> =>
      client.send("POST", fillAgentId(given["paths.batch"], agent), { json: { batch } });
    const before = await client.send("GET", "/usage");
    const unusual = await submit([unusualEntry(mark), ...plain.slice(1)]);
    const submitted = isSuccess(unusual) || isInconclusive(unusual) ? unusual : await submit(plain);
    const id = startedId(submitted);
    if (id !== null) await pollToEnd(client, id, time);
    const completed = isSuccess(submitted) ? await awaitCompleted(mark, context) : [];
    return { before, submitted, after: await client.send("GET", "/usage"), completed, unusual };
  },
);

export const reportedQuery = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "data", "input", "query");

export function queryOfDelivery(delivery: Delivery): string {
  const query = reportedQuery(delivery);
  return typeof query === "string" ? query : "";
}

async function awaitCompleted(mark: string, { receiver, target, time }: ProbeContext): Promise<Delivery[]> {
  if (target.webhooks === null || !time.canAdvance) return [];
  const opened = await receiver();
  const found = (): Delivery[] => {
    const own = eventsOfType(opened.deliveries(), "agent.completed").filter((each) =>
      queryOfDelivery(each).endsWith(mark),
    );
    return [...new Map(own.map((each) => [getPath(deliveryJson(each), "data", "request_id"), each])).values()];
  };
  await awaitCondition(() => found().length >= batchLength, time);
  return found();
}

export function isHandle(exchange: Exchange): boolean {
  const { operationId, status, checkUrl } = handleOf(exchange);
  return operationId !== undefined || checkUrl !== undefined || status === "pending" || hasStatus(exchange, 202);
}

export const operationHandleClauses = ["OPS-1", "OPS-2", "OPS-3"] as const;
export type HandleClause = (typeof operationHandleClauses)[number];

export const operationHandleRules: Readonly<
  Record<HandleClause, (handle: OperationHandle, exchange: Exchange) => Mismatch | null | undefined>
> = {
  "OPS-1": ({ operationId }) =>
    typeof operationId === "string" ? null : { expected: "`operation_id`, a string", actual: formatValue(operationId) },
  "OPS-2": ({ status }) =>
    status === "pending" ? null : { expected: "`status` is `pending`", actual: formatValue(status) },
  "OPS-3": ({ operationId, checkUrl }, exchange) => {
    if (typeof operationId !== "string") return undefined;
    return checkUrlsOf(exchange, operationId).some((each) => each === checkUrl)
      ? null
      : { expected: `\`check_url\` is ${formatValue(`/v1/operations/${operationId}`)}`, actual: formatValue(checkUrl) };
  },
};
