import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { type FileTexts, readFiles } from "./files.ts";
import { type Ended, leftOverProcesses } from "./harness-process.ts";
import { prepareTrial, type Trial, type TrialEnvironment } from "./trial-environment.ts";
import type { HarnessChanges, Stage } from "./trouble.ts";

/** One process of the harness, and its files. */
export interface Observation {
  readonly ended: Ended;
  readonly folder: string;
  readonly before: FileTexts;
  readonly files: FileTexts;
}

/** The result of a trial. */
export interface Observed {
  readonly first: Observation;
  /** A second process, if the trouble was one. */
  readonly second: Observation | null;
  /** Commands of processes that the harness has left behind. */
  readonly processes: readonly string[];
  readonly keys: readonly string[];
  /** Whether the trouble came while the harness was running. */
  readonly hasCome: boolean;
}

/** How long processes of the harness may take to end after it. */
const maxLeftOverMs = 10_000;

/**
 * Runs a trial. The caller removes its folder.
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

/** Runs the harness in its environment until all its processes have ended. */
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
  progress.isRunning = false;
  await acted;
  const [second] = await Promise.all(seconds.map(async (each) => ({ folder: each.folder, ended: await each.ended })));
  for (const undo of undos) undo();
  chmodSync(folder, 0o777);
  const processes = await leftOverProcesses(mark, maxLeftOverMs);
  const files = readFiles(folder);
  return {
    first: { ended, folder, before, files },
    second: second === undefined ? null : observeSecond(second, { folder, files }),
    processes,
    keys,
    hasCome: progress.hasCome && hasInterfered(changes),
  };
}

/** A second process in the folder of the first must not have written anything. */
function observeSecond(
  { folder, ended }: { readonly folder: string; readonly ended: Ended },
  first: { readonly folder: string; readonly files: FileTexts },
): Observation {
  if (folder === first.folder) return { ended, folder, before: first.files, files: first.files };
  return { ended, folder, before: new Map(), files: readFiles(folder) };
}

const hasInterfered = ({ interference }: HarnessChanges): boolean =>
  interference?.kind !== "failing writes" || existsSync(interference.mark);

/** Waits for the instant, and acts if the harness is still running. */
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

/** Runs a trial in a temporary folder, and judges it before the folder is removed. */
export async function inFolder<T>(act: (root: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), "conformance-trouble-"));
  try {
    return await act(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
