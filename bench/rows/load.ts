import { runInProcess } from "../measuring/run-workload.ts";
import { type BenchServer, startServer } from "../measuring/server.ts";
import { atLeast, atMost } from "../tool/goal.ts";
import type { Row } from "../tool/row.ts";

const connections = 10;
const fullAmount = 30_000;

const body = JSON.stringify({ query: "hello" });

const invokes = ({ url, key }: BenchServer, amount: number) => ({
  url: `${url}/agents/echo/invoke`,
  method: "POST",
  headers: { authorization: `Bearer ${key}`, accept: "application/json", "content-type": "application/json" },
  body,
  connections,
  amount,
});

const byAutocannon: Row = {
  name: "load-autocannon",
  what: "a scenario sent by autocannon to the reference server and judged, first request to verdict",
  against: "raw autocannon sending as many",
  compared: "rate",
  goal: atLeast(0.95),
  mostRounds: null,
  open: async (size) => {
    const server = await startServer("reference", null);
    const amount = size.of(fullAmount);
    const { url, key } = server;
    return {
      subject: () => runInProcess("autocannon-scenario", { url, key, connections, amount }),
      baseline: () => runInProcess("raw-autocannon", invokes(server, amount)),
      close: server.close,
    };
  },
};

const byK6: Row = {
  name: "load-k6",
  what: "a thousand requests of a scenario sent by k6: its processor time",
  against: "a bare k6 script that reads bodies",
  compared: "CPU time",
  goal: atMost(1.2),
  mostRounds: null,
  open: async (size) => {
    const server = await startServer("reference", null);
    const { url, key } = server;
    const sent = { url, key, connections, amount: size.of(fullAmount) };
    return {
      subject: () => runInProcess("k6", { ...sent, script: "scenario" }),
      baseline: () => runInProcess("k6", { ...sent, script: "bare" }),
      close: server.close,
    };
  },
};

export const loadRows: readonly Row[] = [byAutocannon, byK6];
