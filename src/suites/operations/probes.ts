import { sumOf } from "../../base/numbers.ts";
import { encodedSegment } from "../../base/path-segment.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { defaultQuery } from "../../run/discovery/greeting.ts";
import { type Client, isSegment } from "../../run/send/client.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { waitIfAllowed } from "../limits/exhaust.ts";
import { fieldsOf, isSuccess, member } from "../shared/response.ts";

/** The fields of an operation handle, wherever a published shape holds them. `undefined` where absent. */
export interface Handle {
  readonly operationId: unknown;
  readonly status: unknown;
  readonly checkUrl: unknown;
}

export interface BatchSubmitted {
  /** Path of the target file, with its placeholder; `null` where it says none for a batch. */
  readonly path: string | null;
  readonly submitted: Exchange | null;
  /** An operation's start at a path of its own; `null` where the target file says none. Evidence of earlier versions does not have it. */
  readonly started?: Exchange | null;
  /** Each look at the operation, in order; empty where there was no handle. */
  readonly polls: readonly Exchange[];
  /** The first of the queries alone: what a batch is made of. */
  readonly control: Exchange;
}

const queries = [defaultQuery, "Good evening. Please answer in a few words."] as const;

/** What passes on the target's clock between two looks at an operation. */
const pollWaitsMs = { moved: [0, 1000, 5000, 15_000, 40_000, 60_000, 180_000], real: [0, 500, 1500, 3000] } as const;

const pollWaits = { how: "if left", seconds: sumOf(pollWaitsMs.real) / 1000 } as const;

export const batchSubmitted = probe(
  "a batch of two queries is submitted, and another one, and the first is followed to its end",
  {
    needs: ["paths.start", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? 5 : 6) + Number(target.paths.operation !== null),
    waits: pollWaits,
    lane: "alone",
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
    // Its handle is judged with all others. It comes to its end while another is followed, so that what it uses is not taken for the next probe's.
    if (submitted !== null && isSuccess(submitted) && !hasFewRequests(target))
      await post(path, { batch: [{ query: defaultQuery }] });
    const id = [submitted, started].flatMap((each) => startedId(each) ?? [])[0];
    const polls = id === undefined ? [] : await followToEnd(client, id, time);
    return { path, submitted, started, polls, control };
  },
);

/** The id of an operation that was started; `null` where none was, or no request can name it. */
function startedId(exchange: Exchange | null): string | null {
  const id = exchange !== null && isSuccess(exchange) ? handleOf(exchange).operationId : undefined;
  return typeof id === "string" && isSegment(id) ? id : null;
}

/** A path of the target file with an agent in its place. */
export const fillAgentId = (path: string, agent: string): string =>
  path.replaceAll("{agent_id}", encodedSegment(agent));

/** Looks at the operation until it has come to an end, a few times at most. */
async function followToEnd(client: Client, id: string, time: RunClock): Promise<Exchange[]> {
  const polls: Exchange[] = [];
  for (const ms of time.canMove ? pollWaitsMs.moved : pollWaitsMs.real) {
    if (!(await waitIfAllowed(time, ms, "the operation is under way"))) break;
    // What works on it may live in real time, however far the clock was moved.
    if (time.canMove && polls.length > 0) await time.sleepReal(time.settleMs);
    const poll = await client.send("GET", `/operations/${encodedSegment(id)}`);
    polls.push(poll);
    if (!isUnderWay(poll)) break;
  }
  return polls;
}

const underWay =
  /^(pending|queued|accepted|created|scheduled|submitted|starting|started|running|processing|in[ _-]?progress|working)$/i;

function isUnderWay(poll: Exchange): boolean {
  const state = stateOf(poll);
  return statusOf(poll) === 429 || (typeof state === "string" && underWay.test(state));
}

/** The operation's own status; `undefined` where the answer names none. */
export function stateOf(poll: Exchange): unknown {
  return isSuccess(poll) ? member(fieldsOf(poll, handleFields), "status") : undefined;
}

const handleFields = ["operation_id", "check_url"] as const;

export function handleOf(exchange: Exchange): Handle {
  const fields = fieldsOf(exchange, handleFields);
  return {
    operationId: member(fields, "operation_id"),
    status: member(fields, "status"),
    checkUrl: member(fields, "check_url"),
  };
}
