import { formatDuration } from "../../base/duration.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { line, UsageError } from "../../base/line.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ClientCall, CommandEnd, CommandRun, RunStage } from "../../evidence/client-call.ts";
import type { ChooseTrouble, Gateway } from "../../gateway/gateway.ts";
import type { TroubleName } from "../../gateway/trouble.ts";
import { planTrouble } from "../../gateway/trouble-plan.ts";
import type { ClientSession } from "../../run/party-session.ts";
import { SkipError, TargetUnavailable } from "../../run/skip-reason.ts";
import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

export type CommandLine = readonly [program: string, ...args: string[]];

export interface CommandOptions {
  readonly command: CommandLine;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly showsOutput: boolean;
}

interface EndedCommand {
  readonly end: CommandEnd;
  readonly durationMs: number;
  /**
   * The last 4,000 characters of the command's output. With `showsOutput`, the output goes to standard error, and this
   * text is empty.
   */
  readonly output: string;
}

export function assertCommand([program]: CommandLine): void {
  // Checks nothing on Windows, which searches for programs differently, for example by adding `.exe`.
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
/** How long a command may take to end after SIGTERM. After this time, SIGKILL ends the command. */
const terminationGraceMs = 1000;

/** Runs a command until it ends, times out or `signal` aborts. Then also ends the processes that the command left. */
export async function runCommand(options: CommandOptions): Promise<EndedCommand> {
  const { command, environment, timeoutMs, signal, showsOutput } = options;
  const [program, ...args] = command;
  const startMs = performance.now();
  // Except on Windows, starts a new process group, so that one signal also ends the command's child processes.
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

/** Waits for the event `exit`. The event `close` may never come, because other processes may keep the output open. */
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

export interface ClientSettings extends Omit<CommandOptions, "signal"> {
  readonly troubles: readonly TroubleName[];
  readonly seed: number;
  readonly isStrict: boolean;
  /** Largest `retry_after`, in seconds, of the errors that the harness injects. Default: 3. */
  readonly maxRetryAfterSeconds?: number;
}

interface SessionTools {
  readonly gateway: Gateway;
  readonly signingSecret: string;
  readonly record: (exchange: Exchange) => void;
  readonly signal: AbortSignal;
  readonly onRun: (stage: RunStage, number: number) => void;
  /** Called if the command fails in a run without injected errors. `output` is the end of the command's output. */
  readonly onFailure: (output: string) => void;
  readonly onUnstartable: (error: UsageError) => void;
}

const maxRuns = 40;
/**
 * Time limit for starting runs with injected errors. A slow command gets more time: `maxTroubledRatio` times the
 * duration of its run without injected errors.
 */
const maxTroubledMs = 5 * 60_000;
const maxTroubledRatio = 6;

export function createClientSession(settings: ClientSettings, tools: SessionTools): ClientSession {
  let plain: { readonly calls: readonly ClientCall[]; readonly durationMs: number } = { calls: [], durationMs: 0 };

  const runPlainly: ClientSession["runPlainly"] = async () => {
    const { run, command } = await runCommandOnce("plain", () => null, settings, tools);
    if (tools.signal.aborted) throw new SkipError("the run was stopped");
    const problem = describeFailure(run.end);
    if (problem !== null) {
      tools.onFailure(command.output);
      throw new TargetUnavailable(`The command ${problem} without trouble, so nothing can be judged`);
    }
    if (run.calls.length === 0)
      throw new TargetUnavailable(
        `The command sent no request to the address in its environment (${Object.keys(settings.environment).join(", ")})`,
      );
    plain = { calls: run.calls, durationMs: command.durationMs };
    return run;
  };

  const runTroubled: ClientSession["runTroubled"] = async () => {
    const { troubles: names, seed, maxRetryAfterSeconds } = settings;
    if (names.length === 0) throw new SkipError("trouble is switched off");
    const plan = planTrouble({ names, seed, plain: plain.calls, maxRetryAfterSeconds });
    const runs: CommandRun[] = [];
    const untilMs = performance.now() + Math.max(maxTroubledMs, plain.durationMs * maxTroubledRatio);
    while (runs.length < maxRuns && performance.now() < untilMs && !tools.signal.aborted) {
      const stage = plan.begin();
      if (stage === null) break;
      tools.onRun(stage, runs.length + 1);
      runs.push((await runCommandOnce(stage, plan.choose, settings, tools)).run);
    }
    return runs;
  };
  return { signingSecret: tools.signingSecret, isStrict: settings.isStrict, runPlainly, runTroubled };
}

async function runCommandOnce(
  stage: RunStage,
  choose: ChooseTrouble,
  { command, environment, timeoutMs, showsOutput }: ClientSettings,
  { gateway, record, signal, onUnstartable }: SessionTools,
): Promise<{ readonly run: CommandRun; readonly command: EndedCommand }> {
  gateway.begin(choose);
  const options = { command, environment, timeoutMs, signal, showsOutput };
  const ended = await runCommand(options).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    onUnstartable(error);
    throw new TargetUnavailable(error.message);
  });
  const calls = await gateway.finish();
  for (const { exchange } of calls) record(exchange);
  return { run: { stage, calls, end: ended.end }, command: ended };
}

function describeFailure(end: CommandEnd): string | null {
  switch (end.kind) {
    case "exited":
      return end.code === 0 ? null : `ended with exit code ${end.code}`;
    case "killed":
      return `was ended by ${end.signal}`;
    case "timed out":
      return `was not over after ${formatDuration(end.afterMs)}`;
    case "interrupted":
      return "was interrupted";
  }
}
