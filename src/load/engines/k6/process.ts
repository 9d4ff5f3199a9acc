import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { type CpuReadings, sampleCpu } from "./cpu-usage.ts";
import type { K6Command } from "./command.ts";
import { EngineProblem } from "../../engine.ts";
import type { EndLine } from "./lines.ts";

/** A process of k6 that runs. */
export interface K6Process {
  readonly ended: Promise<K6End>;
  /** k6 ends its iterations and writes its last line. Again has no effect. */
  stop(): void;
}

interface K6End {
  /** `null` where a signal ended it. */
  readonly code: number | null;
  /** What k6 itself said, the last lines. */
  readonly log: readonly string[];
  readonly business: CpuReadings;
}

const KEPT_LOG_LINES = 30;
/** So long k6 has for its last line after it was stopped. */
const STOPPING_MS = 10_000;

/** Starts k6. `onLine` takes each line that a script writes; what it does not take, by answering false, is kept as k6's own word. */
export function startK6(
  path: string,
  { args, env }: Omit<K6Command, "segment">,
  onLine: (line: string) => boolean,
): K6Process {
  // Detached: a Ctrl-C of the terminal goes to its whole group, and a second one would end k6 without its last line.
  const child = spawn(path, args, { env, stdio: ["ignore", "ignore", "pipe"], detached: true });
  const killed = () => void child.kill("SIGKILL");
  process.once("exit", killed);
  const business = sampleCpu(child.pid);
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
        // A line that we do not understand is our own fault: nothing after it can be trusted.
        killed();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, log, business: business.read() }));
  }).finally(() => {
    isOver = true;
    process.off("exit", killed);
    business.stop();
    clearTimeout(deadline);
  });
  return {
    ended,
    stop: () => {
      if (isOver || deadline !== undefined) return;
      child.kill("SIGINT");
      deadline = setTimeout(killed, STOPPING_MS);
    },
  };
}

/** Exit codes of k6 that have a meaning here. Source: k6, errext/exitcodes. */
const codes = { fine: 0, invalidConfig: 104, interrupted: 105, scriptException: 107, aborted: 108 } as const;

/** Why a process of k6 gave no evidence; `null` where it gave some. An exception in an iteration leaves k6's code at 0: the last line tells it. */
export function explainFailure({ code, log }: K6End, end: EndLine | null, wasStopped: boolean): Error | null {
  if (wasStopped) return null;
  const said = log.filter((line) => line !== requestFailed).join("\n");
  if (end !== null && end.errors > 0)
    return new Error(`The k6 script threw an exception in ${end.errors} of its iterations:\n${said}`);
  if (code === codes.fine && end !== null) return null;
  if (code === codes.scriptException || code === codes.invalidConfig || code === codes.aborted)
    return new EngineProblem(`k6 did not start the load:\n${said}`);
  if (code === codes.interrupted) return new EngineProblem("k6 was interrupted by somebody else: run it again.");
  return new EngineProblem(
    `k6 ended ${code === null ? "by a signal" : `with code ${code}`} before it was done:\n${said}`,
  );
}

/** What k6 says of each request without an answer: evidence tells that better. */
const requestFailed = "Request Failed";
