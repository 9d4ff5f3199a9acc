import { runWorkload } from "../measuring/run-workload.ts";
import { type BenchServer, startServer } from "../measuring/server.ts";
import { minRatio, maxRatio } from "../tool/goal.ts";
import type { BenchRow } from "../tool/row.ts";

const connections = 10;
const fullAmount = 30_000;

const body = JSON.stringify({ query: "hello" });

const invokeRequests = ({ url, key }: BenchServer, amount: number) => ({
  url: `${url}/agents/echo/invoke`,
  method: "POST",
  headers: { authorization: `Bearer ${key}`, accept: "application/json", "content-type": "application/json" },
  body,
  connections,
  amount,
});

const autocannonRow: BenchRow = {
  name: "load-autocannon",
  what: "a scenario sent by autocannon to the reference server and judged, first request to verdict",
  against: "raw autocannon sending as many",
  compared: "rate",
  goal: minRatio(0.95),
  maxRounds: null,
  open: async (size) => {
    const server = await startServer("reference", null);
    const amount = size.of(fullAmount);
    const { url, key } = server;
    return {
      subject: () => runWorkload("autocannon-scenario", { url, key, connections, amount }),
      baseline: () => runWorkload("raw-autocannon", invokeRequests(server, amount)),
      close: server.close,
    };
  },
};

const k6Row: BenchRow = {
  name: "load-k6",
  what: "a thousand requests of a scenario sent by k6: its processor time",
  against: "a bare k6 script that reads bodies",
  compared: "CPU time",
  goal: maxRatio(1.2),
  maxRounds: null,
  open: async (size) => {
    const server = await startServer("reference", null);
    const { url, key } = server;
    const sent = { url, key, connections, amount: size.of(fullAmount) };
    return {
      subject: () => runWorkload("k6", { ...sent, script: "scenario" }),
      baseline: () => runWorkload("k6", { ...sent, script: "bare" }),
      close: server.close,
    };
  },
};

export const loadRows: readonly BenchRow[] = [autocannonRow, k6Row];
