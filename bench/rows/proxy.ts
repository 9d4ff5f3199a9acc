import type { PacedRequests } from "../workloads/added-latency.ts";
import type { RepeatedRequest } from "../workloads/raw-autocannon.ts";
import { runWorkload } from "../measuring/run-workload.ts";
import { type BenchServer, startServer } from "../measuring/server.ts";
import {
  minRatio,
  type RowGoal,
  maxSubject,
  maxLongRounds,
  type BenchRow,
  type MeasureSide,
  type WorkSize,
} from "../tool/row.ts";

const path = "/agents/echo/invoke";
const body = JSON.stringify({ query: "How are you behind a proxy?" });
const headers = { "content-type": "application/json", authorization: "Bearer ah_bench_1f0c7a" };

/** Fixed response of the server behind the proxies. That server does no work, so that only the proxies take time. */
const upstreamResponse = {
  headers: {
    "Content-Type": "application/json",
    "X-RateLimit-Limit": "100",
    "X-RateLimit-Remaining": "98",
    "X-RateLimit-Reset": "1795810620",
    "X-RateLimit-Reset-After": "50",
  },
  writes: [JSON.stringify({ result: { output: "Well." }, usage: { total_tokens: 2 } })],
};

interface ProxyServers {
  readonly upstream: BenchServer;
  readonly judging: BenchServer;
  readonly bare: BenchServer;
}

const rowOf = (
  row: Pick<BenchRow, "name" | "what" | "compared"> & { readonly goal: RowGoal },
  sideOf: (proxy: BenchServer, servers: ProxyServers, size: WorkSize) => MeasureSide,
): BenchRow => ({
  ...row,
  against: "the smallest proxy that undici allows",
  maxRounds: maxLongRounds,
  open: async (size) => {
    const upstream = await startServer("bare-http", upstreamResponse);
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

export const proxyRows: readonly BenchRow[] = [
  rowOf(
    {
      name: "proxy-latency",
      what: "proxy: added to the p99, at 500 requests a second",
      compared: "wall time",
      goal: maxSubject(2),
    },
    (proxy, { upstream }, size) => {
      const paced: PacedRequests = {
        direct: new URL(upstream.url).origin,
        through: new URL(proxy.url).origin,
        path: `/v1${path}`,
        headers,
        body,
        perSecond: 500,
        amount: size.of(2500),
      };
      return () => runWorkload("added-latency", paced);
    },
  ),
  rowOf(
    {
      name: "proxy-rate",
      what: "proxy: invokes, all passed on and judged or counted",
      compared: "rate",
      goal: minRatio(0.5),
    },
    (proxy, _, size) => {
      const requests: RepeatedRequest = {
        url: proxy.url + path,
        method: "POST",
        headers,
        body,
        connections: 20,
        amount: size.of(15_000),
      };
      return () => runWorkload("raw-autocannon", requests);
    },
  ),
];
