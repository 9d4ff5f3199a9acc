import { request } from "undici";

import type { Streams } from "../goes/streams.ts";
import { goApart } from "../measuring/go.ts";
import { type Served, startServer, withServerTime } from "../measuring/served.ts";
import { atLeast } from "../tool/goal.ts";
import type { Row, Side } from "../tool/row.ts";

const atOnce = 200;
/** Characters to a chunk. */
const chunkSize = 8;
/** Beside the chunks a stream has `start` and `done`. */
const otherEvents = 2;
/** What the agent says before it repeats the query. */
const spokenBefore = "You said: ".length;

/** A body whose answer comes in so many events. */
const bodyFor = (events: number): string =>
  JSON.stringify({
    query: "x".repeat((events - otherEvents) * chunkSize - spokenBefore),
    parameters: { chunk_size: chunkSize },
  });

const path = "/v1/agents/echo/stream";

/** What one stream of the reference server writes: its headers, and its events one by one. */
async function writesOf({ url, key }: Served, events: number) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "text/event-stream" };
  const answer = await request(new URL(path, url), { method: "POST", headers, body: bodyFor(events) });
  const writes = (await answer.body.text()).split(/(?<=\n\n)/);
  if (writes.length !== events) throw new Error(`a stream of ${events} events came in ${writes.length}`);
  const own = Object.entries(answer.headers).filter(
    ([name]) => !/^(connection|keep-alive|transfer-encoding|date)$/.test(name),
  );
  return { headers: Object.fromEntries(own.map(([name, value]) => [name, String(value)])), writes };
}

function rowOf(events: number, fullStreams: number): Row {
  return {
    name: `streams-${events}`,
    what: `reference server: streams of ${events.toLocaleString("en")} events, ${atOnce} at once`,
    against: "bare `node:http` writing the same bytes",
    compared: "rate",
    goal: atLeast(0.8),
    mostRounds: null,
    open: async (size) => {
      const reference = await startServer("reference", null);
      const told = await writesOf(reference, events);
      const bare = await startServer("bare-http", told);
      const bytes = told.writes.join("").length - atOnce;
      const reading = ({ url, key }: Served): Streams => ({
        url: new URL(url).origin,
        path,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "text/event-stream" },
        body: bodyFor(events),
        atOnce,
        amount: Math.max(atOnce, size.of(fullStreams)),
        bytes,
      });
      const side =
        (served: Served): Side =>
        () =>
          withServerTime(served, () => goApart("streams", reading(served)));
      return {
        subject: side(reference),
        baseline: side(bare),
        close: async () => void (await Promise.all([reference.close(), bare.close()])),
      };
    },
  };
}

/** The reference server's streams; the processor time is the server's. */
export const streamRows: readonly Row[] = [rowOf(20, 4000), rowOf(2000, 200)];
