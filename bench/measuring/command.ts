import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

import { z } from "zod";

import { installedPackage, scratchFile } from "./scratch.ts";
import type { Measurement } from "./measurement.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Command {
  readonly args: readonly string[];
  readonly codes: readonly number[];
}

/** The measurement of a command. `cpuMs` covers all Node processes of the command, `bytes` only the main process. */
export interface CommandMeasurement extends Measurement {
  readonly stdout: string;
}

const exitUsageScript = fileURLToPath(new URL("exit-usage.cjs", import.meta.url));
const usageSchema = z.object({ pid: z.int(), cpuUs: z.number(), maxRssKb: z.number() });

export async function runCommand({ args, codes }: Command): Promise<CommandMeasurement> {
  const usageFile = scratchFile("usage", "jsonl");
  const startedMs = performance.now();
  const { pid, code, stdout, stderr } = await runToEnd(args, usageFile);
  const wallMs = performance.now() - startedMs;
  const used = readUsages(usageFile);
  rmSync(usageFile, { force: true });
  if (!codes.includes(code))
    throw new Error(`\`node ${args.join(" ")}\` ended with ${code}: ${endOfOutput(stderr, stdout)}`);
  const main = used.find((one) => one.pid === pid);
  if (main === undefined) throw new Error(`\`node ${args.join(" ")}\` did not report its CPU time and memory`);
  const cpuMs = used.reduce((sum, { cpuUs }) => sum + cpuUs / 1000, 0);
  return { wallMs, cpuMs, bytes: main.maxRssKb * 1024, stdout };
}

interface EndedCommand {
  readonly pid: number;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function runToEnd(args: readonly string[], usageFile: string): Promise<EndedCommand> {
  const child = spawn(process.execPath, args, {
    env: measuredEnvironment(usageFile),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => (texts[name] += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ pid: child.pid ?? -1, code: code ?? -1, ...texts }));
  });
}

/** Returns environment variables that make each Node process append its CPU time and memory to `usageFile`. */
const measuredEnvironment = (usageFile: string): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_OPTIONS: `--require ${JSON.stringify(exitUsageScript)}`,
  BENCH_USAGE_FILE: usageFile,
});

function readUsages(file: string): z.infer<typeof usageSchema>[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => usageSchema.parse(JSON.parse(line)));
}

const endOfOutput = (...texts: readonly string[]): string => texts.join("\n").trim().slice(-500);

export const conformanceArgs = (...args: readonly string[]): string[] => [
  join(installedPackage(), "bin", "conformance.js"),
  ...args,
];

/** A running command that acts as a server, such as `conformance serve`. */
interface CommandServer {
  readonly close: () => Promise<void>;
}

/** Starts a command that acts as a server. Resolves when the command first prints something. */
export async function startCommandServer(args: readonly string[]): Promise<CommandServer> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const exited = once(child, "exit");
  await Promise.race([
    once(child.stdout, "data"),
    exited.then(() => Promise.reject(new Error(`\`node ${args.join(" ")}\` ended before it served`))),
  ]);
  child.stdout.resume();
  return {
    close: async () => {
      child.kill("SIGTERM");
      await exited;
      process.off("exit", kill);
    },
  };
}
