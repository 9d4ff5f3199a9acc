import { sumOf } from "../../base/numbers.ts";
import { encodedSegment } from "../../base/path-segment.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { defaultQuery } from "../../run/discovery/answering-agent.ts";
import { type Client, isSegment } from "../../run/send/client.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { waitIfAllowed } from "../limits/exhaust.ts";
import { fieldsOf, isSuccess } from "../shared/response.ts";
import { getPath } from "../../base/json.ts";

/** The fields of an operation handle, in any published shape; `undefined` if absent. */
export interface Handle {
  readonly operationId: unknown;
  readonly status: unknown;
  readonly checkUrl: unknown;
}

export interface BatchSubmitted {
  /** Batch path of the target file, with its placeholder; `null` if there is none. */
  readonly path: string | null;
  readonly submitted: Exchange | null;
  /**
   * Start of an operation at another path of the target file; `null` if there is no such path. Absent in the evidence
   * of earlier versions.
   */
  readonly started?: Exchange | null;
  /** Polls of the operation, in order; empty if there was no handle. */
  readonly polls: readonly Exchange[];
  /** Control: an invoke with the first query of the batch. */
  readonly control: Exchange;
}

const queries = [defaultQuery, "Good evening. Please answer in a few words."] as const;

/** Time on the target's clock before each poll of an operation, with and without a test clock. */
const pollWaitsMs = { advanced: [0, 1000, 5000, 15_000, 40_000, 60_000, 180_000], real: [0, 500, 1500, 3000] } as const;

const pollWaits = { mode: "optional", seconds: sumOf(pollWaitsMs.real) / 1000 } as const;

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
    // A second operation, whose handle is judged too. It ends while the first is polled, so that its usage is not
    // attributed to the next probe.
    if (submitted !== null && isSuccess(submitted) && !hasFewRequests(target))
      await post(path, { batch: [{ query: defaultQuery }] });
    const id = [submitted, started].flatMap((each) => startedId(each) ?? [])[0];
    const polls = id === undefined ? [] : await followToEnd(client, id, time);
    return { path, submitted, started, polls, control };
  },
);

const longBatch = [defaultQuery, ...queries];

/** Submits a batch of three queries: a server may build the handle of a longer batch in another way. */
export const longBatchSubmitted = probe(
  "a batch of three queries is submitted, and followed to its end",
  {
    since: "1.1",
    needs: ["paths.batch", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? 0 : 4),
    executions: (target) => (hasFewRequests(target) ? 0 : longBatch.length),
    waits: pollWaits,
    stage: "coverage",
    creates: { operations: 1 },
    createsFew: {},
  },
  async ({ client, given, time, target }): Promise<{ readonly submitted: Exchange | null }> => {
    if (hasFewRequests(target)) return { submitted: null };
    const path = fillAgentId(given["paths.batch"], given["agents.answering"]);
    const submitted = await client.send("POST", path, { json: { batch: longBatch.map((query) => ({ query })) } });
    const id = startedId(submitted);
    // Waits for the end, so that the next probe does not count these executions.
    if (id !== null) await followToEnd(client, id, time);
    return { submitted };
  },
);

/** The id of a started operation; `null` if there is none or it cannot be part of a path. */
export function startedId(exchange: Exchange | null): string | null {
  const id = exchange !== null && isSuccess(exchange) ? handleOf(exchange).operationId : undefined;
  return typeof id === "string" && isSegment(id) ? id : null;
}

/** Fills in the agent of a path from the target file. */
export const fillAgentId = (path: string, agent: string): string =>
  path.replaceAll("{agent_id}", encodedSegment(agent));

/** Polls the operation a few times, until it has ended. */
export async function followToEnd(client: Client, id: string, time: RunClock): Promise<Exchange[]> {
  const polls: Exchange[] = [];
  for (const ms of time.canAdvance ? pollWaitsMs.advanced : pollWaitsMs.real) {
    if (!(await waitIfAllowed(time, ms, "the operation is pending"))) break;
    // The target's worker may run in real time, even if the clock was advanced.
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

/** The status of the operation; `undefined` if the response has none. */
export function stateOf(poll: Exchange): unknown {
  return isSuccess(poll) ? getPath(fieldsOf(poll, operationHandleFields), "status") : undefined;
}

const operationHandleFields = ["operation_id", "check_url"] as const;

export function handleOf(exchange: Exchange): Handle {
  const fields = fieldsOf(exchange, operationHandleFields);
  return {
    operationId: getPath(fields, "operation_id"),
    status: getPath(fields, "status"),
    checkUrl: getPath(fields, "check_url"),
  };
}

/** Accepted values of `check_url`, with and without the path prefix of the target's base URL. */
export function checkUrlsOf({ request: { url } }: Exchange, operationId: string): string[] {
  const prefix = new URL(url).pathname.replace(/\/v1\/.*$/, "");
  return [operationId, encodedSegment(operationId)].flatMap((id) => [
    `/v1/operations/${id}`,
    `${prefix}/v1/operations/${id}`,
  ]);
}
