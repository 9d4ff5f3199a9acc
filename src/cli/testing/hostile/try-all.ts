import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tracesIn } from "../../../evidence/testing/traces.ts";
import { type Harm, type Modes, startHostileTarget } from "./target.ts";
import { setTimeout as sleep } from "node:timers/promises";

/** A hostile behaviour, and the result of a run against it. */
export interface TriedMode {
  readonly name: string;
  readonly tried: Tried;
  readonly problems: readonly HostileProblem[];
}

export interface TryAllOptions {
  /** Maximum number of runs at the same time. */
  readonly atOnce: number;
  readonly cores: number;
  readonly onTried: (mode: TriedMode) => void;
}

/** Time limits of a run, in seconds: for runs that share the machine, and for a run that is alone on it. */
const timeLimits = { shared: 150, alone: 90 } as const;
const pollMs = 100;

/**
 * Tries every hostile behaviour. Runs mostly wait, so more of them start as long as processor cores are free. A run that took too long is
 * repeated alone at the end, and only its second result is reported.
 */
export async function tryAll(modes: Modes, { atOnce, cores, onTried }: TryAllOptions): Promise<void> {
  const load = measureCoreUsage();
  const late: (readonly [string, Harm])[] = [];
  const underway = new Set<Promise<void>>();
  const isFull = (): boolean => underway.size > 0 && (underway.size >= atOnce || load.now() > cores - 0.5);
  const tryShared = async (name: string, harm: Harm): Promise<void> => {
    const mode = await tryOne(name, harm, timeLimits.shared, load);
    if (isOnlyLate(mode)) late.push([name, harm]);
    else onTried(mode);
  };
  for (const [name, harm] of Object.entries(modes)) {
    while (isFull()) await sleep(pollMs);
    const work: Promise<void> = tryShared(name, harm).finally(() => underway.delete(work));
    underway.add(work);
  }
  await Promise.all(underway);
  for (const [name, harm] of late) onTried(await tryOne(name, harm, timeLimits.alone, load));
}

async function tryOne(name: string, harm: Harm, seconds: number, load: CoreUsage): Promise<TriedMode> {
  const one = load.open();
  try {
    const tried = await tryMode(harm, { maxSeconds: seconds, onPoll: one.observe });
    return { name, tried, problems: problemsOf(tried) };
  } finally {
    one.close();
  }
}

const isOnlyLate = ({ problems }: TriedMode): boolean =>
  problems.some(({ kind }) => kind === "time") && problems.every(({ kind }) => kind === "time" || kind === "report");

/** Measures how many processor cores are in use. */
interface CoreUsage {
  /** Adds a process to the measurement. It counts as fully busy at first, until observations show less. */
  readonly open: () => { readonly observe: (isBusy: boolean) => void; readonly close: () => void };
  /** Returns the number of cores in use. Includes this process, which runs the hostile targets. */
  readonly now: () => number;
}

/** Weight of a new observation in the moving average of a process. */
const observationWeight = 0.1;

function measureCoreUsage(): CoreUsage {
  const shares = new Map<object, number>();
  let before = performance.eventLoopUtilization();
  let own = 0;
  return {
    open: () => {
      const one = {};
      shares.set(one, 1);
      return {
        observe: (isBusy) =>
          void shares.set(one, (shares.get(one) ?? 1) * (1 - observationWeight) + (isBusy ? observationWeight : 0)),
        close: () => void shares.delete(one),
      };
    },
    now: () => {
      const since = performance.eventLoopUtilization(before);
      before = performance.eventLoopUtilization();
      own = own * (1 - observationWeight) + since.utilization * observationWeight;
      return own + [...shares.values()].reduce((sum, each) => sum + each, 0);
    },
  };
}

/** The result of one run of the command against a hostile target. */
export interface Tried {
  /** Exit code of the command; `null` if it was killed. */
  readonly code: number | null;
  readonly seconds: number;
  /** Peak memory of the command in megabytes; 0 if unknown. */
  readonly megabytes: number;
  /** The last line that the command printed. */
  readonly last: string;
  readonly verdict: string | null;
  /** Output files that the command should have written, but did not. */
  readonly missing: readonly string[];
  /** Outputs that contain eight or more consecutive characters of the key. */
  readonly leaks: readonly string[];
}

/** A key that contains every character that some output format escapes. */
const hostileKey = String.raw`ah_9kQ"2v\Xt%41<r'8&mW5zLp7+Yc3/Re=`;

const main = new URL("../../main.ts", import.meta.url).pathname;
/** The formats that the command writes: the names of their files, by flag. */
const formats = {
  "--junit": "junit.xml",
  "--html": "report.html",
  "--ctrf": "ctrf.json",
  "--har": "report.har",
  "--markdown": "summary.md",
} as const;

interface TryOptions {
  /** Time after which the command is killed. */
  readonly maxSeconds: number;
  /** Called many times a second on Linux: says whether the command is busy or waiting. */
  readonly onPoll?: (isBusy: boolean) => void;
}

/** Runs the command in a separate process, as a user does, and makes it write every format. */
export async function tryMode(harm: Harm, { maxSeconds, onPoll }: TryOptions, key = hostileKey): Promise<Tried> {
  const target = await startHostileTarget(harm, key);
  const folder = mkdtempSync(join(tmpdir(), "conformance-hostile-"));
  const started = performance.now();
  const flags = Object.entries(formats).flatMap(([flag, name]) => [flag, join(folder, name)]);
  const child = spawn(
    process.execPath,
    [main, "run", "--base-url", target.baseUrl, "--tier", "pro", "--max-wait", "1s", "--out", folder, ...flags],
    {
      env: { PATH: process.env["PATH"], CONFORMANCE_API_KEY: key, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let [printed, megabytes] = ["", 0];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Buffer) => (printed += piece.toString()));
  const poll = setInterval(() => {
    const status = statusOf(child.pid);
    megabytes = Math.max(megabytes, memoryIn(status));
    if (status !== "") onPoll?.(/^State:\s+R/m.test(status));
  }, 50);
  const kill = setTimeout(() => child.kill("SIGKILL"), maxSeconds * 1000);
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  clearInterval(poll);
  clearTimeout(kill);
  target.close();
  const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
  rmSync(folder, { recursive: true });
  const report = files.get("report.json");
  return {
    code,
    seconds: (performance.now() - started) / 1000,
    megabytes,
    last: printed.trim().split("\n").at(-1) ?? "",
    verdict: report === undefined ? null : (/"verdict": "(\w+)"/.exec(report)?.[1] ?? null),
    missing: ["report.json", "evidence.json", ...Object.values(formats)].filter((name) => !files.has(name)),
    leaks: [...files, ["the terminal", printed] as const].flatMap(([name, text]) =>
      tracesIn(text, key)
        .slice(0, 3)
        .map((trace) => `${name}: ${trace}`),
    ),
  };
}

/** Returns the text of /proc/PID/status. It is empty if the process has ended, and on systems other than Linux. */
function statusOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

function memoryIn(status: string): number {
  const [, kilobytes = "0"] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

const limits = { megabytes: 300, seconds: 60 } as const;

export const problemKinds = ["crash", "leak", "memory", "time", "report"] as const;

/** A problem that a hostile target must not be able to cause. */
interface HostileProblem {
  readonly kind: (typeof problemKinds)[number];
  /** Describes the problem in a sentence with figures. */
  readonly text: string;
}

/** Lists the problems of a run against a hostile target. */
export function problemsOf({ code, seconds, megabytes, missing, leaks, verdict }: Tried): HostileProblem[] {
  const wrong = (kind: HostileProblem["kind"], ...texts: readonly string[]): HostileProblem[] =>
    texts.map((text) => ({ kind, text }));
  const isLate = seconds > limits.seconds;
  // Whether the command crashed. A command that was killed for taking too long did not.
  const hasCrashed = code === null ? !isLate : code >= 4;
  return [
    ...(hasCrashed ? wrong("crash", `it ended with code ${code}`) : []),
    ...(isLate ? wrong("time", `it took ${seconds.toFixed(0)} s`) : []),
    ...(megabytes > limits.megabytes ? wrong("memory", `it took ${megabytes} MB`) : []),
    ...wrong("report", ...missing.map((name) => `${name} was not written`)),
    ...(verdict === null ? wrong("report", "there is no verdict") : []),
    ...wrong("leak", ...leaks.map((leak) => `the key stands in ${leak}`)),
  ];
}
