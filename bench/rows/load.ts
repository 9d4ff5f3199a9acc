import { runWorkload } from "../measuring/run-workload.ts";
import { type BenchServer, startServer } from "../measuring/server.ts";
import { minRatio, maxRatio, type BenchRow, nothingToClose } from "../tool/row.ts";
import { rmSync } from "node:fs";

import { scenarios } from "../../src/load/scenarios.ts";
import { embeddedLimits } from "../../src/app/load/trial-environment.ts";
import { usableEngineNames, findEngines } from "../../src/app/load/available-engines.ts";
import { tierNames } from "../../src/spec/tiers.ts";
import { chooseTrials } from "../../src/load/trials.ts";
import { conformanceArgs, runCommand } from "../measuring/command.ts";
import { scratchFile } from "../measuring/scratch.ts";

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

/** Accepted exit codes of `conformance load`. 3: a trial cannot be judged, e.g. because this machine is busy. */
const acceptedExitCodes = [0, 3];

async function scheduledSeconds(): Promise<number> {
  const engines = usableEngineNames(await findEngines());
  const trials = chooseTrials({ scenarios, tiers: tierNames, engine: "in turns", engines, usesScenarioLimits: true });
  return trials.reduce((sum, { scenario, tier }) => {
    const limits = embeddedLimits(scenario, tier);
    return sum + scenario.seconds(limits) / scenario.speed(limits);
  }, 0);
}

const quickScenarios = ["burst"];

export const loadAllRow: BenchRow = {
  name: "load-all",
  what: "`conformance load --all`, start to exit",
  against: "the seconds that its scenarios must last",
  compared: "wall time",
  goal: maxRatio(1.1),
  maxRounds: 1,
  open: async ({ isFull }) => ({
    subject: async () => {
      const out = scratchFile("load", "report");
      const chosen = isFull ? ["--all"] : quickScenarios;
      const took = await runCommand({
        args: conformanceArgs("load", ...chosen, "--quiet", "--out", out),
        codes: acceptedExitCodes,
      });
      rmSync(out, { recursive: true });
      return took;
    },
    baseline: async () => ({ wallMs: (await scheduledSeconds()) * 1000, cpuMs: 0, bytes: null }),
    close: nothingToClose,
  }),
};
