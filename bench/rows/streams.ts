import { request } from "undici";

import type { StreamReads } from "../workloads/streams.ts";
import { runWorkload } from "../measuring/run-workload.ts";
import { type BenchServer, startServer, withServerTime } from "../measuring/server.ts";
import { minRatio } from "../tool/goal.ts";
import type { BenchRow, MeasureSide } from "../tool/row.ts";

const concurrentStreams = 200;
/** Characters per chunk. */
const chunkSize = 8;
/** Number of events in a stream that are not chunks: `start` and `done`. */
const otherEvents = 2;
/** Length of the text that the agent puts before the query in its response. */
const prefixLength = "You said: ".length;

/** Returns a request body for which the stream has this number of events. */
const bodyFor = (events: number): string =>
  JSON.stringify({
    query: "x".repeat((events - otherEvents) * chunkSize - prefixLength),
    parameters: { chunk_size: chunkSize },
  });

const path = "/v1/agents/echo/stream";

/** Opens a stream of the reference server. Returns its headers and events, which the bare server repeats. */
async function writesOf({ url, key }: BenchServer, events: number) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "text/event-stream" };
  const answer = await request(new URL(path, url), { method: "POST", headers, body: bodyFor(events) });
  const writes = (await answer.body.text()).split(/(?<=\n\n)/);
  if (writes.length !== events) throw new Error(`a stream of ${events} events came in ${writes.length}`);
  const own = Object.entries(answer.headers).filter(
    ([name]) => !/^(connection|keep-alive|transfer-encoding|date)$/.test(name),
  );
  return { headers: Object.fromEntries(own.map(([name, value]) => [name, String(value)])), writes };
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
      const writes = await writesOf(reference, events);
      const bare = await startServer("bare-http", writes);
      const bytes = writes.writes.join("").length - concurrentStreams;
      const reading = ({ url, key }: BenchServer): StreamReads => ({
        url: new URL(url).origin,
        path,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "text/event-stream" },
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

/**
 * Rows for the streams of the reference server. The CPU time of a measurement is that of the server, not of the client.
 */
export const streamRows: readonly BenchRow[] = [rowOf(20, 4000), rowOf(2000, 200)];
