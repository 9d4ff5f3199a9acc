import { randomUUID } from "node:crypto";

import { tryParseJson } from "../../base/json.ts";
import { memoizeByPair } from "../../base/memoize.ts";
import type { Exchange, StreamEvent } from "../../evidence/exchange.ts";
import { isAddedAfter, type RequirementSet } from "../../spec/clause.ts";
import { agentPath, type Client } from "../../run/send/client.ts";
import type { SendOptions } from "../../run/send/send-guard.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { withoutNetworkLosses } from "../../run/send/retry.ts";
import { unknownAgentId } from "../../run/discovery/discover-target.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { hasFields } from "../../target/own-request.ts";
import { type RoleAssignment, roleAssignmentOf } from "../../target/target.ts";
import { sendCombined } from "../shared/acceptance.ts";
import { type TimedExchange, tookMsOf } from "../shared/durations.ts";
import { unicodeText } from "../shared/unicode-text.ts";
import { hasStatus } from "../shared/response.ts";
import { isEventStream, isStreamAccepted } from "./events.ts";

/** A stream. For each event, `clockAtEventsMs` says how far the run had advanced the test clock by then. */
export interface TimedStream extends TimedExchange {
  readonly clockAtEventsMs: readonly number[];
  /** Whether the target file or the test control names the agent for streams. Otherwise, it may be unable to stream. */
  readonly promised: boolean;
}

const countingQuery = "Please count: one two three four five six seven eight nine ten eleven twelve";
export const maxSlowMs = 45_000;

async function timedStream(
  client: Client,
  time: RunClock,
  agent: string | RoleAssignment,
  body: object,
  options: SendOptions = {},
): Promise<Omit<TimedStream, "promised">> {
  const clockAtEventsMs: number[] = [];
  const closeWhen = (events: readonly StreamEvent[]): boolean => {
    clockAtEventsMs.length = events.length - 1;
    clockAtEventsMs.push(time.clockOffsetMs());
    return false;
  };
  const exchange = await client.stream(agent, body, { ...options, closeWhen });
  return { exchange, clockAtEventsMs, clockAfterMs: time.clockOffsetMs() };
}

export const streamed = probe(
  "an agent streams an answer",
  { needs: ["agents.streaming"], requests: 1 },
  async ({ client, given, time, target }): Promise<TimedStream> => ({
    ...(await timedStream(client, time, given["agents.streaming"], { query: countingQuery })),
    promised: target.agentSource === "named",
  }),
);

/**
 * Request fields that the target must accept. The probe sends all in one request and, if the target rejects it, each in
 * a request of its own. `max_tokens` is large enough for the whole answer.
 */
const features = {
  temperature: { parameters: { temperature: 0.7 } },
  maxTokens: { parameters: { max_tokens: 1000 } },
  context: { parameters: { context: { user: { name: "Ada" } } } },
  resume: { parameters: { resume_from_index: 0 } },
  delay: { parameters: { stream_delay_ms: 0 } },
  size: { parameters: { chunk_size: 20 } },
  unknownKeys: { parameters: { conformance_unknown: true, conformance_nested: { list: [1, null] } } },
  session: { session_id: "conformance-session" },
  scripts: { query: unicodeText },
} as const;

export const streamedWithAllFeatures = probe(
  "an agent streams an answer, asked with every parameter, a session and a query of many scripts",
  { needs: ["agents.streaming"], requests: 1 },
  ({ client, given }) =>
    sendCombined(
      features,
      { query: countingQuery },
      (body) => client.stream(given["agents.streaming"], body),
      isStreamAccepted,
    ),
);

export const streamedWithoutQuery = probe(
  "a stream is asked for without a query",
  { needs: ["agents.streaming"], requests: 1, executions: 0 },
  async ({ client, given }) => ({ refused: await client.stream(given["agents.streaming"], {}) }),
);

export const streamedUnknownAgent = probe(
  "a stream is asked of an agent that does not exist",
  { requests: 1 },
  async (context) => ({ refused: await context.client.stream(unknownAgentId(context), { query: countingQuery }) }),
);

export const failedInStream = probe(
  "an agent fails in mid-stream",
  { needs: ["agents.failingInStream"], requests: 1 },
  async ({ client, given }) => ({
    exchange: await client.stream(given["agents.failingInStream"], { query: countingQuery }),
  }),
);

export const overloadedInStream = probe(
  "an overloaded agent is asked for a stream",
  { needs: ["agents.overloaded"], requests: 1 },
  async ({ client, given }) => ({
    exchange: await client.stream(given["agents.overloaded"], { query: countingQuery }),
  }),
);

/** Requests a slow stream with a token limit. If the stream took less than `minBriefMs`, asks again without a limit. */
export const streamedSlowly = probe(
  "an agent streams for some seconds",
  { needs: ["agents.slowStreaming"], requests: 1, stage: "agent time" },
  async ({ client, given, time }) => {
    const ask = (body: object) =>
      time.awaitAgent(timedStream(client, time, given["agents.slowStreaming"], body), maxSlowMs);
    const brief = await ask({ query: countingQuery, ...briefParameters });
    return tookMsOf(brief) >= minBriefMs ? brief : ask({ query: countingQuery });
  },
);

/** Shortens a slow agent's stream from about a minute to some seconds. */
export const briefParameters = { parameters: { max_tokens: 9 } } as const;
export const minBriefMs = 2500;

const streamedWith = (parameters: Readonly<Record<string, number>>, { client, given, time }: StreamingContext) =>
  time.awaitAgent(
    timedStream(client, time, given["agents.streaming"], { query: countingQuery, parameters }),
    maxSlowMs,
  );

type StreamingContext = Pick<ProbeContext<"agents.streaming">, "client" | "given" | "time">;

export const streamedFromTwo = probe(
  "an agent streams an answer with resume_from_index 2",
  { needs: ["agents.streaming"], requests: 1, stage: "agent time" },
  (context) => streamedWith({ resume_from_index: 2 }, context),
);

export interface TemperatureResult extends Omit<TimedStream, "promised"> {
  readonly tempered: Exchange;
}

const probeWithTemperature = (parameters: Readonly<Record<string, number>>, temperature: number) =>
  probe(
    `an agent streams an answer with ${Object.entries(parameters).flat().join(" ")} and temperature ${temperature}`,
    { needs: ["agents.streaming"], requests: 1, stage: "agent time" },
    async (context): Promise<TemperatureResult> => {
      const both = await streamedWith({ ...parameters, temperature }, context);
      const isRejected = both.exchange.answer.kind === "answered" && !isStreamAccepted(both.exchange);
      const alone = isRejected && !hasStatus(both.exchange, 401, 429) ? await streamedWith(parameters, context) : both;
      return { ...alone, tempered: both.exchange };
    },
  );

export const streamedWithDelay = probeWithTemperature({ stream_delay_ms: 50 }, 0);
export const streamedInSmallChunks = probeWithTemperature({ chunk_size: 3 }, 2);

export const streamSessionHeld = probe(
  "an agent is told a word in a stream of a session and asked for it in another stream of it, and in another session",
  { needs: ["agents.rememberingInStream"], requests: 3 },
  async ({ client, given }) => {
    const ask = (query: string, session: string): Promise<Exchange> =>
      client.stream(given["agents.rememberingInStream"], { query, session_id: session }, { noRetry: true });
    const word = `word-${randomUUID().slice(0, 8)}`;
    const [session, other] = [`conf-${randomUUID()}`, `conf-${randomUUID()}`];
    const query = "Which word did I tell you before?";
    const told = await ask(`Please remember this: ${word}`, session);
    const exchange = await ask(query, session);
    const elsewhere = await ask(query, other);
    return { word, told, asked: exchange, elsewhere };
  },
);

export const streamedAsJson = probe(
  "a stream is asked for with `Accept: application/json`",
  { needs: ["agents.streaming"], requests: 1 },
  async ({ client, given }) => ({
    exchange: await client.stream(given["agents.streaming"], { query: countingQuery }, { accept: "application/json" }),
  }),
);

/** Role of an agent whose streams end in an `error` event. */
export type StreamFailureRole = "failingInStream" | "overloaded";

export interface AllStreams {
  readonly streams: readonly Exchange[];
  /** Ids of streams of agents with the role `failing`, `failingInStream` or `overloaded`. */
  readonly failing: readonly string[];
  readonly roles?: Readonly<Record<string, StreamFailureRole>>;
}

const streamsOfSet = memoizeByPair((all: AllStreams, requirements: RequirementSet): AllStreams => {
  const streams = all.streams.filter(({ since }) => !isAddedAfter(requirements, since));
  return streams.length === all.streams.length ? all : { ...all, streams };
});

export const everyStream = probe(
  "all streams of the run are looked at",
  { requests: 0, stage: "review", narrow: streamsOfSet },
  async ({ recorder, target }): Promise<AllStreams> => {
    const streams = withoutNetworkLosses(recorder.exchangesOutsideOutages()).filter(isEventStream);
    const idsOf = (role: "failing" | StreamFailureRole): string[] => {
      const assignment = roleAssignmentOf(target, role);
      return streams.flatMap((stream) => (assignment !== null && matchesRole(assignment, stream) ? stream.id : []));
    };
    const byRole = (["failingInStream", "overloaded"] as const).map((role) => ({ role, ids: idsOf(role) }));
    const roles = Object.fromEntries(byRole.flatMap(({ role, ids }) => ids.map((id) => [id, role] as const)));
    return { streams, failing: [...new Set([...idsOf("failing"), ...Object.keys(roles)])], roles };
  },
);

function matchesRole(assignment: RoleAssignment, { request }: Exchange): boolean {
  const body = request.body.kind === "text" ? tryParseJson(request.body.text) : undefined;
  return request.url.endsWith(agentPath(assignment, "stream")) && hasFields(body, assignment.body);
}
