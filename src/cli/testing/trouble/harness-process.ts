import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { basename, dirname, join } from "node:path";
import { XMLValidator } from "fast-xml-parser";
import { readReportDocument } from "../../../app/report-folder/saved-report.ts";
import { readHistory } from "../../../app/nightly/history-store.ts";
import { messageOf } from "../../../base/errors.ts";
import { tryParseJson } from "../../../base/json.ts";

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

/** The texts of all files below a folder, by relative path. */
export type FileTexts = ReadonlyMap<string, string>;

/** Reads every regular file below a folder. */
export function readFiles(folder: string): FileTexts {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return new Map(
    names
      .map((name) => [name, join(folder, name)] as const)
      .filter(([, path]) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
      .map(([name, path]) => [name, readFileSync(path, "utf8")]),
  );
}

/** Matches the names of temporary files and locks, which exist only while a process writes. */
const temporaryFile = /^\.tmp-|^\.conformance-lock\.json$/;

/** Whether a path is that of a temporary file or a lock. */
export const isMomentary = (path: string): boolean => temporaryFile.test(basename(path));

/** Temporary files and locks that a process should have removed before its end. */
export const leftOverFiles = (files: FileTexts): readonly string[] =>
  [...files.keys()].filter((name) => isMomentary(name));

/** Describes each file that a process changed and did not write completely. */
export function incompleteFiles(folder: string, files: FileTexts, before: FileTexts): readonly string[] {
  const changed = [...files].filter(([name, text]) => before.get(name) !== text && !isMomentary(name));
  return [
    ...[...before.keys()].filter((name) => !files.has(name)).map((name) => `${name} is gone`),
    ...changed.flatMap(([name, text]) => {
      const problem = problemOf(join(folder, name), text);
      return problem === null ? [] : [`${name} (${text.length} characters): ${problem}`];
    }),
  ];
}

/** Says why a file is incomplete; `null` if it is complete. */
function problemOf(path: string, text: string): string | null {
  const name = basename(path);
  if (name === "report.json") return problemOfReport(path);
  if (basename(dirname(path)) === "nights") return problemOfNight(path);
  if (/\.(json|har)$/.test(name)) return tryParseJson(text) === undefined ? "not JSON" : null;
  if (/\.(xml|svg)$/.test(name)) return XMLValidator.validate(text) === true ? null : "not XML";
  if (name.endsWith(".html")) return text.trimEnd().endsWith("</html>") ? null : "it has no end";
  return text === "" ? "it is empty" : null;
}

/** Reads a report and its evidence, as commands do. Returns the error message if the report is damaged or contradicts itself. */
function problemOfReport(path: string): string | null {
  try {
    const { report, evidence } = readReportDocument(path);
    const isWhole = report.load !== undefined || evidence !== null;
    return isWhole ? null : "evidence.json is missing";
  } catch (error) {
    return messageOf(error);
  }
}

function problemOfNight(path: string): string | null {
  const { damaged } = readHistory(dirname(dirname(path)));
  return damaged.find(({ file }) => file === path)?.problem ?? null;
}
