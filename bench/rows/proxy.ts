import type { Paced } from "../workloads/added-latency.ts";
import type { Requests } from "../workloads/raw-autocannon.ts";
import { runInProcess } from "../measuring/run-workload.ts";
import { type BenchServer, startServer } from "../measuring/server.ts";
import { atLeast, type Goal, itself } from "../tool/goal.ts";
import { maxLongRounds, type Row, type Side, type Size } from "../tool/row.ts";

const path = "/agents/echo/invoke";
const body = JSON.stringify({ query: "How are you behind a proxy?" });
const headers = { "content-type": "application/json", authorization: "Bearer ah_bench_1f0c7a" };

/** The response of an upstream that does nothing: the proxies have all of the time. */
const response = {
  headers: {
    "Content-Type": "application/json",
    "X-RateLimit-Limit": "100",
    "X-RateLimit-Remaining": "98",
    "X-RateLimit-Reset": "1795810620",
    "X-RateLimit-Reset-After": "50",
  },
  writes: [JSON.stringify({ result: { output: "Well." }, usage: { total_tokens: 2 } })],
};

interface Servers {
  readonly upstream: BenchServer;
  readonly judging: BenchServer;
  readonly bare: BenchServer;
}

const rowOf = (
  row: Pick<Row, "name" | "what" | "compared"> & { readonly goal: Goal },
  sideOf: (proxy: BenchServer, servers: Servers, size: Size) => Side,
): Row => ({
  ...row,
  against: "the smallest proxy that undici allows",
  mostRounds: maxLongRounds,
  open: async (size) => {
    const upstream = await startServer("bare-http", response);
    const options = { upstream: upstream.url };
    const servers = {
      upstream,
      judging: await startServer("judging-proxy", options),
      bare: await startServer("bare-proxy", options),
    };
    return {
      subject: sideOf(servers.judging, servers, size),
      baseline: sideOf(servers.bare, servers, size),
      close: async () => void (await Promise.all(Object.values(servers).map(({ close }) => close()))),
    };
  },
});

/** Rows for the proxy that judges traffic. */
export const proxyRows: readonly Row[] = [
  rowOf(
    {
      name: "proxy-latency",
      what: "proxy: added to the p99, at 500 requests a second",
      compared: "wall time",
      goal: itself(2),
    },
    (proxy, { upstream }, size) => {
      const paced: Paced = {
        direct: new URL(upstream.url).origin,
        through: new URL(proxy.url).origin,
        path: `/v1${path}`,
        headers,
        body,
        perSecond: 500,
        amount: size.of(2500),
      };
      return () => runInProcess("added-latency", paced);
    },
  ),
  rowOf(
    {
      name: "proxy-rate",
      what: "proxy: invokes, all passed on and judged or counted",
      compared: "rate",
      goal: atLeast(0.5),
    },
    (proxy, _, size) => {
      const requests: Requests = {
        url: proxy.url + path,
        method: "POST",
        headers,
        body,
        connections: 20,
        amount: size.of(15_000),
      };
      return () => runInProcess("raw-autocannon", requests);
    },
  ),
];
