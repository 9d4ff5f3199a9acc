import { request } from "undici";

import type { RepeatedRequest } from "../workloads/raw-autocannon.ts";
import { runWorkload } from "../measuring/run-workload.ts";
import { type BenchServer, startServer, withServerTime } from "../measuring/server.ts";
import { minRatio } from "../tool/goal.ts";
import type { BenchRow, MeasureSide, WorkSize } from "../tool/row.ts";

type EndpointCall = Pick<RepeatedRequest, "method" | "body"> & { readonly path: string };

const calls = {
  invoke: { method: "POST", path: "/agents/echo/invoke", body: JSON.stringify({ query: "How are you under load?" }) },
  health: { method: "GET", path: "/agents/echo/health", body: "" },
  list: { method: "GET", path: "/agents?page=1&limit=10", body: "" },
} as const satisfies Record<string, EndpointCall>;

const connections = 20;
const fullAmount = 15_000;

/** Describes `amount` requests of a call, with the server's key if it has one. */
function requestsTo({ url, key }: BenchServer, { method, path, body }: EndpointCall, amount: number): RepeatedRequest {
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

const measureServer =
  (served: BenchServer, call: EndpointCall, size: WorkSize): MeasureSide =>
  () =>
    withServerTime(served, () => runWorkload("raw-autocannon", requestsTo(served, call, size.of(fullAmount))));

/** Requests each endpoint of the reference server once. Returns the bodies, which the bare server repeats. */
async function bodiesOf(reference: BenchServer): Promise<Record<string, unknown>> {
  const bodies: Record<string, unknown> = {};
  for (const [name, call] of Object.entries(calls)) {
    const { url, method, headers, body } = requestsTo(reference, call, 1);
    const answer = await request(url, { method, headers, ...(body === "" ? {} : { body }) });
    bodies[name] = await answer.body.json();
  }
  return bodies;
}

/**
 * Rows for the endpoints of the reference server. The CPU time of a measurement is that of the server, not of the
 * client.
 */
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
