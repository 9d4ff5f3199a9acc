import { request } from "undici";

import type { Requests } from "../workloads/raw-autocannon.ts";
import { runInProcess } from "../measuring/run-workload.ts";
import { type BenchServer, startServer, withServerTime } from "../measuring/server.ts";
import { atLeast } from "../tool/goal.ts";
import type { Row, Side, Size } from "../tool/row.ts";

type Call = Pick<Requests, "method" | "body"> & { readonly path: string };

const calls = {
  invoke: { method: "POST", path: "/agents/echo/invoke", body: JSON.stringify({ query: "How are you under load?" }) },
  health: { method: "GET", path: "/agents/echo/health", body: "" },
  list: { method: "GET", path: "/agents?page=1&limit=10", body: "" },
} as const satisfies Record<string, Call>;

const connections = 20;
const fullAmount = 15_000;

/** Builds the requests of a call. They carry the server's key, if the server has one. */
function requestsTo({ url, key }: BenchServer, { method, path, body }: Call, amount: number): Requests {
  const own = key === "" ? {} : { authorization: `Bearer ${key}` };
  const typed = body === "" ? {} : { "content-type": "application/json" };
  return {
    url: url + path,
    method,
    body,
    headers: { accept: "application/json", ...own, ...typed },
    connections,
    amount,
  };
}

const answers =
  (served: BenchServer, call: Call, size: Size): Side =>
  () =>
    withServerTime(served, () => runInProcess("raw-autocannon", requestsTo(served, call, size.of(fullAmount))));

/** Requests each endpoint of the reference server once, for the bodies that the bare server is to repeat. */
async function bodiesOf(reference: BenchServer): Promise<Record<string, unknown>> {
  const bodies: Record<string, unknown> = {};
  for (const [name, call] of Object.entries(calls)) {
    const { url, method, headers, body } = requestsTo(reference, call, 1);
    const answer = await request(url, { method, headers, ...(body === "" ? {} : { body }) });
    bodies[name] = await answer.body.json();
  }
  return bodies;
}

/** Rows for the endpoints of the reference server. The CPU time of a measurement is that of the server, not of the client. */
export const referenceRows: readonly Row[] = Object.entries(calls).map(([name, call]) => ({
  name: `reference-${name}`,
  what: `reference server: ${name}, with key, limits and headers`,
  against: "bare fastify with the same body and schema",
  compared: "rate",
  goal: atLeast(0.8),
  mostRounds: null,
  open: async (size) => {
    const reference = await startServer("reference", null);
    const bare = await startServer("bare-fastify", await bodiesOf(reference));
    return {
      subject: answers(reference, call, size),
      baseline: answers(bare, call, size),
      close: async () => void (await Promise.all([reference.close(), bare.close()])),
    };
  },
}));
