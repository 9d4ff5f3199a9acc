import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { type CommandTook, conformance, runCommand } from "../measuring/command.ts";
import { scratchFile } from "../measuring/scratch.ts";
import { startCommandServer } from "../measuring/command-server.ts";
import { atMost, itself } from "../tool/goal.ts";
import { maxLongRounds, nothingToClose, type Row, type Side } from "../tool/row.ts";

const bareExchanging = fileURLToPath(new URL("../bare/exchanging.mjs", import.meta.url));

/** Runs all checks and writes the report. `requests` in the result is the number of requests that the run sent. */
async function wholeRun(...flags: readonly string[]): Promise<CommandTook & { readonly requests: number }> {
  const out = scratchFile("run", "report");
  const took = await runCommand({ args: conformance("run", "--quiet", "--out", out, ...flags), codes: [0] });
  const report = JSON.parse(readFileSync(join(out, "report.json"), "utf8")) as { readonly requests: number };
  rmSync(out, { recursive: true });
  return { ...took, requests: report.requests };
}

/** Share of usage requests among the requests of a run. It is high, because a run uses up the hourly limit of a key mostly by usage requests. */
const readsOf = 8 / 9;

const embedded: Row = {
  name: "run-embedded",
  what: "a whole `conformance run` on the embedded server, start to exit",
  against: "fastify and undici alone exchanging as many requests, start to exit",
  compared: "wall time",
  goal: atMost(2),
  mostRounds: null,
  open: async () => {
    const { requests } = await wholeRun();
    const reads = Math.round(requests * readsOf);
    const bare = { args: [bareExchanging, String(reads), String(requests - reads)], codes: [0] };
    return { subject: () => wholeRun(), baseline: () => runCommand(bare), close: nothingToClose };
  },
};

/** Starts a server for each measurement, because the baseline, a run on the embedded server, starts one too. */
const overTargetFile: Side = async () => {
  const target = scratchFile("target", "json");
  const server = await startCommandServer(
    conformance("serve", "--port", "0", "--virtual-clock", "--quiet", "--write-target", target),
  );
  try {
    return await wholeRun("--target", target);
  } finally {
    await server.close();
  }
};

const target: Row = {
  name: "run-target",
  what: "the same on `conformance serve` over a target file, its clock moved over HTTP",
  against: "on the embedded server",
  compared: "wall time",
  goal: atMost(1.5),
  mostRounds: maxLongRounds,
  open: async () => ({ subject: overTargetFile, baseline: () => wholeRun(), close: nothingToClose }),
};

const memory: Row = {
  name: "run-memory",
  what: "most memory that a whole run on the embedded server holds",
  against: "`node -e 0`",
  compared: "memory",
  goal: itself(120e6),
  mostRounds: maxLongRounds,
  open: async () => ({
    subject: () => wholeRun(),
    baseline: () => runCommand({ args: ["-e", "0"], codes: [0] }),
    close: nothingToClose,
  }),
};

export const runRows: readonly Row[] = [embedded, target, memory];
