import { is2xx } from "../../base/http-status.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { roleAssignmentOf, type RequestRole, type Target } from "../../target/target.ts";
import { agentPath, type Client } from "../send/client.ts";
import { SkipError } from "../skip-reason.ts";
import type { Need } from "../plan/needs.ts";
import type { RunClock } from "../time/run-clock.ts";

/**
 * A role that the `source` agent can play if requests contain `requestFields`. E.g. `stream_delay_ms` makes the
 * `streaming` agent stream slowly.
 */
interface DerivedRole {
  readonly role: RequestRole;
  readonly source: "answering" | "streaming";
  readonly requestFields: Readonly<Record<string, unknown>>;
  readonly isFulfilled: (client: Client, agent: string, body: object, time: RunClock) => Promise<boolean>;
}

const streamDelayMs = 200;
/** Number of events to read before deciding whether a stream is slow. */
const slowStreamSampleSize = 5;
/** A stream counts as slow if at least this fraction of the requested delay is observed. */
const minObservedDelayShare = 0.6;
/** Real time to wait for the first `slowStreamSampleSize` events, in case the agent ignores the test clock. */
const maxRealWaitMs = 3000;
/** How far to advance the test clock while waiting for events, in case the agent follows the test clock. */
const maxAdvanceMs = 10_000;
/** An agent counts as slow if it takes at least this long to respond. */
const minSlowMs = 1000;

const countingQuery = `Please count: ${Array.from({ length: 20 }, (_, index) => index + 1).join(" ")}`;

const derivableRoles: readonly DerivedRole[] = [
  {
    role: "slowStreaming",
    source: "streaming",
    requestFields: { query: countingQuery, parameters: { stream_delay_ms: streamDelayMs } },
    isFulfilled: streamsSlowly,
  },
  {
    role: "slow",
    source: "answering",
    requestFields: {
      query: "Please write a story of a thousand words, and then the same story once more in other words.",
    },
    isFulfilled: answersSlowly,
  },
];

/** Tests whether agents can play the unassigned roles that probes need. Sends one request for each role. */
export async function withDerivedRoles(
  client: Client,
  target: Target,
  {
    time,
    signal,
    needed,
  }: { readonly time: RunClock; readonly signal: AbortSignal; readonly needed: ReadonlySet<Need> },
): Promise<Target> {
  let assigned = target;
  for (const { role, source, requestFields, isFulfilled } of derivableRoles) {
    const agent = target.agents[source];
    if (roleAssignmentOf(target, role) !== null || agent === undefined || !needed.has(`agents.${role}`)) continue;
    try {
      if (await isFulfilled(client, agent, requestFields, time))
        assigned = {
          ...assigned,
          roleAssignments: { ...assigned.roleAssignments, [role]: { agent, body: requestFields, path: null } },
        };
    } catch (error) {
      if (!(signal.aborted || error instanceof SkipError)) throw error;
    }
  }
  return assigned;
}

async function streamsSlowly(client: Client, agent: string, body: object, time: RunClock): Promise<boolean> {
  const eventTimesMs: number[] = [];
  const underway = client.open("POST", agentPath(agent, "stream"), {
    json: body,
    accept: "text/event-stream",
    closeWhen: (events) => {
      eventTimesMs.push(time.targetMs());
      return events.length >= slowStreamSampleSize;
    },
  });
  const finished = underway.finished;
  await Promise.race([finished, time.sleepReal(maxRealWaitMs)]);
  if (eventTimesMs.length < slowStreamSampleSize)
    await time.passUntil(Promise.race([finished, time.sleepReal(maxRealWaitMs)]), maxAdvanceMs);
  underway.close();
  const exchange = await finished;
  const gaps = eventTimesMs.slice(2).map((ms, index) => ms - (eventTimesMs[index + 1] ?? ms));
  return (
    is2xx(statusOf(exchange)) && gaps.length >= 2 && gaps.every((ms) => ms >= minObservedDelayShare * streamDelayMs)
  );
}

/** Whether the agent takes so long that requests sent together overlap. */
async function answersSlowly(client: Client, agent: string, body: object): Promise<boolean> {
  const exchange = await client.invoke(agent, body);
  return is2xx(statusOf(exchange)) && responseTimeMs(exchange) >= minSlowMs;
}

const responseTimeMs = ({ answer, sentMs }: Exchange): number => answer.endMs - sentMs;
