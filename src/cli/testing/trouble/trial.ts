import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { lockName } from "../../../base/files/folder-lock.ts";
import { type Ended, type FileTexts, isMomentary, leftOverProcesses, readFiles } from "./harness-process.ts";
import { prepareTrial, type Trial, type TrialEnvironment } from "./trial-environment.ts";
import type { HarnessChanges, Stage } from "./trouble.ts";

/** How a process of the harness ended, and the files that it wrote. */
export interface Observation {
  readonly ended: Ended;
  readonly folder: string;
  readonly before: FileTexts;
  readonly files: FileTexts;
}

/** The result of a trial. */
export interface Observed {
  readonly first: Observation;
  /**
   * The second process, if there was one: the trouble started it, or it ran after the first. `firstEndedMs`: end of the first process, in
   * Unix milliseconds.
   */
  readonly second: (Observation & { readonly firstEndedMs: number }) | null;
  /** Command lines of processes that still ran after the harness had ended. */
  readonly processes: readonly string[];
  readonly keys: readonly string[];
  /** Whether the trouble began before the harness ended. */
  readonly hasCome: boolean;
}

/** How long child processes may run on after the harness has ended. */
const maxLeftOverMs = 10_000;

/**
 * Runs a trial. The caller removes the folder afterwards.
 *
 * @param root an empty folder
 */
export async function runTrial(trial: Trial, root: string): Promise<Observed> {
  const environment = await prepareTrial(trial, root);
  try {
    return await observeTrial(trial, environment);
  } finally {
    await environment.close();
  }
}

/** Runs the harness until all its processes have ended. */
async function observeTrial(trial: Trial, environment: TrialEnvironment): Promise<Observed> {
  const { folder, start, makeSecond, mark, keys, changes } = environment;
  const before = readFiles(folder);
  const undos: (() => void)[] = [];
  const seconds: { readonly folder: string; readonly ended: Promise<Ended> }[] = [];
  const harness = start(folder);
  const progress = { isRunning: true, hasCome: trial.trouble?.act === undefined };
  const stage: Stage = {
    ...environment,
    signal: harness.signal,
    startSecond: ({ sharesFolder }) => {
      const own = sharesFolder ? folder : makeSecond();
      seconds.push({ folder: own, ended: start(own, true).ended });
    },
    onEnd: (undo) => void undos.push(undo),
  };
  const acted = actInTime(trial, stage, progress);
  const ended = await harness.ended;
  const endedMs = Date.now();
  const filesAtEnd = readFiles(folder);
  progress.isRunning = false;
  await acted;
  if (trial.trouble?.isFollowed === true) stage.startSecond({ sharesFolder: true });
  const [second] = await Promise.all(seconds.map(async (each) => ({ folder: each.folder, ended: await each.ended })));
  for (const undo of undos) undo();
  chmodSync(folder, 0o777);
  const processes = await leftOverProcesses(mark, maxLeftOverMs);
  const files = second?.folder === folder ? withoutMomentary(filesAtEnd) : readFiles(folder);
  return {
    first: { ended, folder, before, files },
    second:
      second === undefined
        ? null
        : {
            ...second,
            before: second.folder === folder ? files : new Map(),
            files: readFiles(second.folder),
            firstEndedMs: endedMs,
          },
    processes,
    keys,
    hasCome: progress.hasCome && hasInterfered(changes),
  };
}

/** Leaves out temporary files and locks, which exist only while a process writes. */
const withoutMomentary = (files: FileTexts): FileTexts => new Map([...files].filter(([name]) => !isMomentary(name)));

/** Whether a preloaded disturbance had an effect. A failed renewal of a lock does not count as one. */
function hasInterfered({ interference }: HarnessChanges): boolean {
  if (interference?.kind !== "failing writes") return true;
  const failed = existsSync(interference.log) ? readFileSync(interference.log, "utf8").trim().split("\n") : [];
  return failed.some((path) => basename(path) !== lockName);
}

/** Waits until the trouble is due, and causes it if the harness is still running. */
async function actInTime(
  { trouble, atSeconds }: Trial,
  stage: Stage,
  progress: { readonly isRunning: boolean; hasCome: boolean },
): Promise<void> {
  if (trouble?.act === undefined) return;
  for (const until = performance.now() + atSeconds * 1000; performance.now() < until; await sleep(pollMs))
    if (!progress.isRunning) return;
  progress.hasCome = true;
  await trouble.act(stage);
}

const pollMs = 20;

/** Calls `act` with a temporary folder, and removes the folder afterwards. */
export async function inFolder<T>(act: (root: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), "conformance-trouble-"));
  try {
    return await act(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
