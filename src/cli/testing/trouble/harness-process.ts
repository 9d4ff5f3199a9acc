import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** How to start a process of the harness. */
export interface HarnessOptions {
  /** Path of the module to run: the command itself, or a stub in its place. */
  readonly main: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** A program, with its arguments, that starts the harness, such as `setpriv`. */
  readonly prefix: readonly string[];
  /** The destination of standard output. `closed`: a pipe whose reader closes it after the first data. */
  readonly stdout: "read" | "closed" | "/dev/full";
  readonly maxSeconds: number;
}

/** How a process of the harness ended, and its output. */
export interface Ended {
  /** Exit code of the process; `null` if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly seconds: number;
  readonly out: string;
  readonly err: string;
  /** Whether the process exceeded its time limit, and was killed. */
  readonly isLate: boolean;
}

/** A running process of the harness. */
export interface HarnessProcess {
  readonly signal: (name: NodeJS.Signals) => void;
  readonly ended: Promise<Ended>;
}

/** Environment variable that marks the processes of a trial, so that they can be found. Its value is the trial's name. */
const markVariable = "CONFORMANCE_TRIAL";

/** Starts the harness in a process, as a user would. */
export function startHarness(options: HarnessOptions): HarnessProcess {
  const { main, args, folder, environment, prefix, stdout, maxSeconds } = options;
  const [command = "", ...rest] = [...prefix, process.execPath, main, ...args];
  const full = stdout === "/dev/full" ? openSync("/dev/full", "w") : null;
  const started = performance.now();
  const child = spawn(command, rest, {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      K6_BINARY: process.env["K6_BINARY"],
      NO_COLOR: "1",
      ...environment,
    },
    stdio: ["ignore", full ?? "pipe", "pipe"],
  });
  if (full !== null) closeSync(full);
  return { signal: (name) => void child.kill(name), ended: endOf(child, { stdout, maxSeconds, started }) };
}

async function endOf(
  child: ChildProcess,
  { stdout, maxSeconds, started }: Pick<HarnessOptions, "stdout" | "maxSeconds"> & { readonly started: number },
): Promise<Ended> {
  const printed = { out: "", err: "" };
  child.stdout?.on("data", (piece: Buffer) => {
    printed.out += piece.toString();
    if (stdout === "closed") child.stdout?.destroy();
  });
  child.stderr?.on("data", (piece: Buffer) => (printed.err += piece.toString()));
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, maxSeconds * 1000);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (...end) => resolve(end));
  });
  clearTimeout(deadline);
  const seconds = (performance.now() - started) / 1000;
  // If the process left a child process behind, the streams stay open, so the wait is limited.
  await Promise.race([new Promise((resolve) => child.on("close", resolve)), sleep(streamsMs)]);
  return { code, signal, seconds, ...printed, isLate };
}

/** How long to keep reading the output of a process that has ended. */
const streamsMs = 500;

/** The environment variable that marks the processes of a trial, and its value. */
export const markOf = (trial: string): Readonly<Record<string, string>> => ({ [markVariable]: trial });

/**
 * Waits until all processes of a trial have ended. After `maxMs`, kills the others and returns their command lines. Finds processes only on
 * Linux.
 */
export async function leftOverProcesses(trial: string, maxMs: number): Promise<readonly string[]> {
  const until = performance.now() + maxMs;
  for (;;) {
    const left = processesOf(trial);
    if (left.length === 0) return [];
    if (performance.now() > until) {
      for (const { pid } of left) killIfThere(pid);
      return left.map(({ command }) => command);
    }
    await sleep(100);
  }
}

function processesOf(trial: string): readonly { readonly pid: number; readonly command: string }[] {
  return namesIn("/proc").flatMap((name) => {
    const environment = /^\d+$/.test(name) ? textOf(`/proc/${name}/environ`) : "";
    if (!environment.split("\0").includes(`${markVariable}=${trial}`)) return [];
    return [{ pid: Number(name), command: textOf(`/proc/${name}/cmdline`).replaceAll("\0", " ").trim() }];
  });
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended in the meantime.
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
