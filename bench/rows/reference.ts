import type { RepeatedRequest } from "../workloads/raw-autocannon.ts";
import {
  minRatio,
  type BenchRow,
  type MeasureSide,
  type WorkSize,
  maxSubject,
  noGoal,
  nothingToClose,
} from "../tool/row.ts";
import { request } from "undici";

import type { StreamReads } from "../workloads/streams.ts";
import { type BenchServer, startServer, withServerTime } from "../measuring/server.ts";
import { runWorkload } from "../measuring/run-workload.ts";

type EndpointCall = Pick<RepeatedRequest, "method" | "body"> & { readonly path: string };

const calls = {
  invoke: { method: "POST", path: "/agents/echo/invoke", body: JSON.stringify({ query: "How are you under load?" }) },
  health: { method: "GET", path: "/agents/echo/health", body: "" },
  list: { method: "GET", path: "/agents?page=1&limit=10", body: "" },
} as const satisfies Record<string, EndpointCall>;

const connections = 20;
const fullAmount = 15_000;

function requestsTo({ url, key }: BenchServer, { method, path, body }: EndpointCall, amount: number): RepeatedRequest {
  const authorization = key === "" ? {} : { authorization: `Bearer ${key}` };
  const contentType = body === "" ? {} : { "content-type": "application/json" };
  return {
    url: url + path,
    method,
    body,
    headers: { accept: "application/json", ...authorization, ...contentType },
    connections,
    amount,
  };
}

const measureServer =
  (served: BenchServer, call: EndpointCall, size: WorkSize): MeasureSide =>
  () =>
    withServerTime(served, () => runWorkload("raw-autocannon", requestsTo(served, call, size.of(fullAmount))));

async function bodiesOf(reference: BenchServer): Promise<Record<string, unknown>> {
  const bodies: Record<string, unknown> = {};
  for (const [name, call] of Object.entries(calls)) {
    const { url, method, headers, body } = requestsTo(reference, call, 1);
    const answer = await request(url, { method, headers, ...(body === "" ? {} : { body }) });
    bodies[name] = await answer.body.json();
  }
  return bodies;
}

/** Benchmark rows for endpoints of the reference server. The CPU time is that of the server, not that of the client. */
export const referenceRows: readonly BenchRow[] = Object.entries(calls).map(([name, call]) => ({
  name: `reference-${name}`,
  what: `reference server: ${name}, with key, limits and headers`,
  against: "bare fastify with the same body and schema",
  compared: "rate",
  goal: minRatio(0.8),
  maxRounds: null,
  open: async (size) => {
    const reference = await startServer("reference", null);
    const bare = await startServer("bare-fastify", await bodiesOf(reference));
    return {
      subject: measureServer(reference, call, size),
      baseline: measureServer(bare, call, size),
      close: async () => void (await Promise.all([reference.close(), bare.close()])),
    };
  },
}));

const concurrentStreams = 200;
/** Number of characters in a chunk of a stream. */
const chunkSize = 8;
/** Number of events in a stream that are not chunks: `start` and `done`. */
const otherEvents = 2;
/** Length of the text that the agent `echo` puts before the query in its response. */
const prefixLength = "You said: ".length;

const bodyFor = (events: number): string =>
  JSON.stringify({
    query: "x".repeat((events - otherEvents) * chunkSize - prefixLength),
    parameters: { chunk_size: chunkSize },
  });

const path = "/v1/agents/echo/stream";

const streamHeaders = (key: string) => ({
  authorization: `Bearer ${key}`,
  "content-type": "application/json",
  accept: "text/event-stream",
});

async function recordStream({ url, key }: BenchServer, events: number) {
  const answer = await request(new URL(path, url), {
    method: "POST",
    headers: streamHeaders(key),
    body: bodyFor(events),
  });
  const writes = (await answer.body.text()).split(/(?<=\n\n)/);
  if (writes.length !== events) throw new Error(`a stream of ${events} events came in ${writes.length}`);
  const headers = Object.entries(answer.headers).filter(
    ([name]) => !/^(connection|keep-alive|transfer-encoding|date)$/.test(name),
  );
  return { headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])), writes };
}

function rowOf(events: number, fullStreams: number): BenchRow {
  return {
    name: `streams-${events}`,
    what: `reference server: streams of ${events.toLocaleString("en")} events, ${concurrentStreams} at once`,
    against: "bare `node:http` writing the same bytes",
    compared: "rate",
    goal: minRatio(0.8),
    maxRounds: null,
    open: async (size) => {
      const reference = await startServer("reference", null);
      const recorded = await recordStream(reference, events);
      const bare = await startServer("bare-http", recorded);
      const bytes = recorded.writes.join("").length - concurrentStreams;
      const reading = ({ url, key }: BenchServer): StreamReads => ({
        url: new URL(url).origin,
        path,
        headers: streamHeaders(key),
        body: bodyFor(events),
        atOnce: concurrentStreams,
        amount: Math.max(concurrentStreams, size.of(fullStreams)),
        bytes,
      });
      const side =
        (served: BenchServer): MeasureSide =>
        () =>
          withServerTime(served, () => runWorkload("streams", reading(served)));
      return {
        subject: side(reference),
        baseline: side(bare),
        close: async () => void (await Promise.all([reference.close(), bare.close()])),
      };
    },
  };
}

export const streamRows: readonly BenchRow[] = [rowOf(20, 4000), rowOf(2000, 200)];

const keyCounts = [1, 1000, 1_000_000] as const;
const fullDecisions = 2_000_000;
const maxBytesPerKey = 200;

const measureLimiter =
  (name: "limiter" | "map", of: "time" | "memory", keys: number, decisions: number): MeasureSide =>
  () =>
    runWorkload("limiter", { side: name, of, keys, decisions });

const formatKeys = (count: number): string => `${count.toLocaleString("en")} key${count === 1 ? "" : "s"}`;

const costRows = keyCounts.map((count): BenchRow => ({
  name: `limiter-cost-${count}`,
  what: `limiter: a million decisions among ${formatKeys(count)}`,
  against: "a million `Map` look-ups",
  compared: "CPU time",
  goal: noGoal,
  maxRounds: null,
  open: async (size) => {
    const [keys, decisions] = [size.of(count), size.of(fullDecisions)];
    return {
      subject: measureLimiter("limiter", "time", keys, decisions),
      baseline: measureLimiter("map", "time", keys, decisions),
      close: nothingToClose,
    };
  },
}));

const memoryRows = keyCounts.slice(1).map((count): BenchRow => ({
  name: `limiter-memory-${count}`,
  what: `limiter: memory of a key among ${formatKeys(count)}`,
  against: "a `Map` from name to number",
  compared: "memory",
  goal: maxSubject(maxBytesPerKey),
  maxRounds: null,
  open: async (size) => ({
    subject: measureLimiter("limiter", "memory", size.of(count), 0),
    baseline: measureLimiter("map", "memory", size.of(count), 0),
    close: nothingToClose,
  }),
}));

export const limiterRows: readonly BenchRow[] = [...costRows, ...memoryRows];
