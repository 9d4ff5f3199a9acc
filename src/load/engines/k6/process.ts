import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { harnessLimitIn } from "../../../base/harness-limit.ts";
import type { K6Command } from "./command.ts";
import { EngineProblem } from "../../engine.ts";
import type { EndLine } from "./lines.ts";

export interface K6Process {
  readonly ended: Promise<K6End>;
  /** Makes k6 end its iterations and write its last line. A second call has no effect. */
  stop(): void;
}

interface K6End {
  /** The exit code; `null` if a signal ended the process. */
  readonly code: number | null;
  readonly log: readonly string[];
  readonly cpu: CpuReadings;
}

const KEPT_LOG_LINES = 30;
/** Time, in ms, that k6 gets to write its last line after a stop. After that, k6 is killed. */
const STOP_TIMEOUT_MS = 10_000;

/** Starts k6 and passes each line of its stderr to `onLine`. If `onLine` returns `false`, the line goes to the log. */
export function startK6(
  path: string,
  { args, env }: Omit<K6Command, "segment">,
  onLine: (line: string) => boolean,
): K6Process {
  // Detached: Ctrl-C then does not reach k6. Else the SIGINT of `stop` would be a second one, which ends k6 at once.
  const child = spawn(path, args, { env, stdio: ["ignore", "ignore", "pipe"], detached: true });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const cpu = sampleCpu(child.pid);
  const log: string[] = [];
  let deadline: NodeJS.Timeout | undefined;
  let isOver = false;
  const ended = new Promise<K6End>((resolve, reject) => {
    const take = (line: string): void => {
      if (onLine(line)) return;
      log.push(line);
      if (log.length > KEPT_LOG_LINES) log.shift();
    };
    createInterface({ input: child.stderr, crlfDelay: Infinity }).on("line", (line) => {
      try {
        take(line);
      } catch (error) {
        kill();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, log, cpu: cpu.read() }));
  }).finally(() => {
    isOver = true;
    process.off("exit", kill);
    cpu.stop();
    clearTimeout(deadline);
  });
  return {
    ended,
    stop: () => {
      if (isOver || deadline !== undefined) return;
      child.kill("SIGINT");
      deadline = setTimeout(kill, STOP_TIMEOUT_MS);
    },
  };
}

/** Exit codes of k6. Source: k6, errext/exitcodes. */
const exitCodes = { fine: 0, invalidConfig: 104, interrupted: 105, scriptException: 107, aborted: 108 } as const;

/** Returns an error if k6 failed; `null` if it succeeded or was stopped. k6 exits with 0 even if its script threw. */
export function explainFailure({ code, log }: K6End, end: EndLine | null, wasStopped: boolean): Error | null {
  if (wasStopped) return null;
  const limit = harnessLimitIn(log.join("\n"));
  if (limit !== null) return limit;
  const output = log.filter((line) => line !== requestFailed).join("\n");
  if (end !== null && end.errors > 0)
    return new Error(`The k6 script threw an exception in ${end.errors} of its iterations:\n${output}`);
  if (code === exitCodes.fine && end !== null) return null;
  if (code === exitCodes.scriptException || code === exitCodes.invalidConfig || code === exitCodes.aborted)
    return new EngineProblem(`k6 did not start the load:\n${output}`);
  if (code === exitCodes.interrupted) return new EngineProblem("k6 was interrupted from outside: run it again.");
  return new EngineProblem(
    `k6 ended ${code === null ? "by a signal" : `with code ${code}`} before it was done:\n${output}`,
  );
}

/**
 * k6 logs this line for each request without a response. Error messages omit the line, because the evidence lists such
 * requests.
 */
const requestFailed = "Request Failed";

type CpuReadings = readonly { readonly atMs: number; readonly cpuSeconds: number }[];

const CPU_INTERVAL_MS = 250;
/** Unit of the CPU time in `/proc`: Linux always reports hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Reads a process's CPU time periodically from `/proc`, which only Linux has. */
function sampleCpu(pid: number | undefined): { read(): CpuReadings; stop(): void } {
  const readings: { atMs: number; cpuSeconds: number }[] = [];
  const read = (): void => {
    const cpuSeconds = pid === undefined ? null : cpuSecondsOf(pid);
    if (cpuSeconds !== null) readings.push({ atMs: Date.now(), cpuSeconds });
  };
  read();
  const timer = setInterval(read, CPU_INTERVAL_MS);
  timer.unref();
  return { read: () => readings, stop: () => clearInterval(timer) };
}

function cpuSecondsOf(pid: number): number | null {
  try {
    // Skips the program's name, which ends at the last `)`. The name itself may contain spaces and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}

/** Returns a process's highest CPU use, in cores, during any second of a time span; `null` if unknown. */
export function peakCpuShare(readings: CpuReadings, fromMs: number, toMs: number): number | null {
  const during = readings.filter(({ atMs }) => atMs >= fromMs - CPU_INTERVAL_MS && atMs <= toMs + CPU_INTERVAL_MS);
  const shares = during.flatMap((later, at) => {
    const earlier = during.slice(0, at).findLast(({ atMs }) => later.atMs - atMs >= 950);
    return earlier === undefined
      ? []
      : [(later.cpuSeconds - earlier.cpuSeconds) / ((later.atMs - earlier.atMs) / 1000)];
  });
  return shares.length === 0 ? null : Math.max(...shares);
}
