import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { type CommandMeasurement, conformanceArgs, runCommand, startCommandServer } from "../measuring/command.ts";
import { scratchFile } from "../measuring/scratch.ts";
import { maxRatio, maxSubject, maxLongRounds, nothingToClose, type BenchRow, type MeasureSide } from "../tool/row.ts";
import { type Measurement, divideTimes } from "../measuring/measurement.ts";

const bareWholeRun = fileURLToPath(new URL("../bare/whole-run.mjs", import.meta.url));

async function wholeRun(...flags: readonly string[]): Promise<CommandMeasurement & { readonly requests: number }> {
  const out = scratchFile("run", "report");
  const took = await runCommand({ args: conformanceArgs("run", "--quiet", "--out", out, ...flags), codes: [0] });
  const report = JSON.parse(readFileSync(join(out, "report.json"), "utf8")) as { readonly requests: number };
  rmSync(out, { recursive: true });
  return { ...took, requests: report.requests };
}

/**
 * Share of `GET /usage` among the baseline's requests, about as in a run: 8,199 of 10,842 requests. The others are
 * invokes.
 */
const usageShare = 3 / 4;

const embeddedRow: BenchRow = {
  name: "run-embedded",
  what: "a whole `conformance run` on the embedded server, start to exit",
  against: "fastify and undici alone exchanging as many requests, start to exit",
  compared: "wall time",
  goal: maxRatio(2),
  maxRounds: null,
  open: async () => {
    const { requests } = await wholeRun();
    const reads = Math.round(requests * usageShare);
    const bare = { args: [bareWholeRun, String(reads), String(requests - reads)], codes: [0] };
    return { subject: () => wholeRun(), baseline: () => runCommand(bare), close: nothingToClose };
  },
};

const runOnTargetFile: MeasureSide = async () => {
  const targetFile = scratchFile("target", "json");
  const server = await startCommandServer(
    conformanceArgs("serve", "--port", "0", "--virtual-clock", "--quiet", "--write-target", targetFile),
  );
  try {
    return await wholeRun("--target", targetFile);
  } finally {
    await server.close();
  }
};

const targetRow: BenchRow = {
  name: "run-target",
  what: "the same on `conformance serve` over a target file, its clock moved over HTTP",
  against: "on the embedded server",
  compared: "wall time",
  goal: maxRatio(1.5),
  maxRounds: maxLongRounds,
  open: async () => ({ subject: runOnTargetFile, baseline: () => wholeRun(), close: nothingToClose }),
};

const memoryRow: BenchRow = {
  name: "run-memory",
  what: "most memory that a whole run on the embedded server holds",
  against: "`node -e 0`",
  compared: "memory",
  goal: maxSubject(120e6),
  maxRounds: maxLongRounds,
  open: async () => ({
    subject: () => wholeRun(),
    baseline: () => runCommand({ args: ["-e", "0"], codes: [0] }),
    close: nothingToClose,
  }),
};

export const runRows: readonly BenchRow[] = [embeddedRow, targetRow, memoryRow];

/** Number of starts of the command in one measurement. A single start would be too short to measure. */
const startsPerMeasurement = 3;

const measureStarts =
  (args: readonly string[]): MeasureSide =>
  async () => {
    const tooks: Measurement[] = [];
    for (let start = 0; start < startsPerMeasurement; start += 1) tooks.push(await runCommand({ args, codes: [0] }));
    const sum = (name: "wallMs" | "cpuMs"): number => tooks.reduce((all, took) => all + took[name], 0);
    return divideTimes(
      { wallMs: sum("wallMs"), cpuMs: sum("cpuMs"), bytes: tooks[0]?.bytes ?? null },
      startsPerMeasurement,
    );
  };

const commands = {
  version: ["--version"],
  help: ["--help"],
  explain: ["explain", "INV-10"],
  list: ["list"],
} as const satisfies Record<string, readonly string[]>;

export const startRows: readonly BenchRow[] = Object.entries(commands).map(([name, args]) => ({
  name: `start-${name}`,
  what: `\`conformance ${args.join(" ")}\`, start to exit`,
  against: "`node -e 0`",
  compared: "wall time",
  goal: maxRatio(3),
  maxRounds: null,
  open: async () => ({
    subject: measureStarts(conformanceArgs(...args)),
    baseline: measureStarts(["-e", "0"]),
    close: nothingToClose,
  }),
}));
