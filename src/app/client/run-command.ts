import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

import { errorCodeOrText } from "../../base/errors.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { CommandEnd } from "../../evidence/client-call.ts";

export type CommandLine = readonly [program: string, ...args: string[]];

export interface CommandOptions {
  readonly command: CommandLine;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly showsOutput: boolean;
}

export interface EndedCommand {
  readonly end: CommandEnd;
  readonly durationMs: number;
  /**
   * The last 4,000 characters of the command's output. With `showsOutput`, the output goes to standard error, and this
   * text is empty.
   */
  readonly output: string;
}

export function assertCommand([program]: CommandLine): void {
  // Windows searches for programs differently, for example by adding `.exe`. Therefore, this function checks nothing on
  // Windows.
  if (process.platform === "win32") return;
  const folders = program.includes("/") ? [""] : (process.env["PATH"] ?? "").split(":");
  const files = folders.map((folder) => (folder === "" ? program : join(folder, program))).filter(isFile);
  if (files.length === 0) throw new UsageError(cannotStartText(program, "ENOENT"));
  if (!files.some(isExecutable)) throw new UsageError(cannotStartText(program, "EACCES"));
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const maxOutputChars = 4000;
/** How long a command may take to end after SIGTERM. Then SIGKILL ends it. */
const terminationGraceMs = 1000;

/** Runs a command until it ends or times out. Also ends all processes that the command has started. */
export async function runCommand(options: CommandOptions): Promise<EndedCommand> {
  const { command, environment, timeoutMs, signal, showsOutput } = options;
  const [program, ...args] = command;
  const startMs = performance.now();
  // Starts a new process group, so that one signal also ends the command's child processes.
  const child = spawn(program, args, {
    detached: process.platform !== "win32",
    env: { ...process.env, ...environment },
    stdio: showsOutput ? ["ignore", 2, 2] : ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const keep = (bytes: Buffer): void => void (output = (output + bytes.toString("utf8")).slice(-maxOutputChars));
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  let isOverdue = false;
  const kill = (name: NodeJS.Signals): void => killGroup(child.pid, name);
  const endEarly = (): void => {
    kill("SIGTERM");
    setTimeout(() => kill("SIGKILL"), terminationGraceMs).unref();
  };
  const timer = setTimeout(() => {
    isOverdue = true;
    endEarly();
  }, timeoutMs);
  const killAtExit = (): void => kill("SIGKILL");
  process.once("exit", killAtExit);
  signal.addEventListener("abort", endEarly, { once: true });
  if (signal.aborted) endEarly();
  try {
    const [code, name] = await waitForExit(child, program);
    const durationMs = performance.now() - startMs;
    const end: CommandEnd = isOverdue
      ? { kind: "timed out", afterMs: timeoutMs }
      : signal.aborted
        ? { kind: "interrupted" }
        : code === null
          ? { kind: "killed", signal: name ?? "a signal" }
          : { kind: "exited", code };
    return { end, durationMs, output };
  } finally {
    clearTimeout(timer);
    kill("SIGKILL");
    process.off("exit", killAtExit);
    signal.removeEventListener("abort", endEarly);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** Waits for `exit`, because `close` may never come: other processes may keep the output open. */
const waitForExit = (
  child: ReturnType<typeof spawn>,
  program: string,
): Promise<[code: number | null, signal: string | null]> =>
  new Promise((resolve, reject) => {
    child.once("exit", (code, name) => resolve([code, name]));
    child.once("error", (error) => reject(new UsageError(cannotStartText(program, errorCodeOrText(error)))));
  });

const cannotStartText = (program: string, code: string) =>
  code === "ENOENT"
    ? line`The command was not found: ${program}. Give a program on PATH, or a path, after --.`
    : line`The command cannot be started: ${program} (${code}).`;

function killGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, name);
  } catch {
    // Ignores the error: the process group has ended already.
  }
}
