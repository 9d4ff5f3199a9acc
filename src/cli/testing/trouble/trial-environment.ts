import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { seededRandom } from "../../../base/numbers.ts";
import { freePort } from "../../../base/testing/network.ts";
import { argumentsOf, type CommandName, type HarnessChanges, maxSeconds, type Stage, type Trouble } from "./trouble.ts";
import { type HarnessProcess, markOf, readFiles, startHarness } from "./harness-process.ts";
import { startLink } from "./link.ts";
import { commandModule, keysIn, startTarget, writeTrialTarget } from "./target-process.ts";

/** One run of a command, and the trouble that occurs during it. */
export interface Trial {
  readonly seed: number;
  readonly command: CommandName;
  /** The kind of trouble; `null` for a trial without trouble. */
  readonly trouble: Trouble | null;
  /** Name of the target's fault; `null` if the target is correct. */
  readonly fault: string | null;
  /** When the trouble begins, in seconds after the harness starts. */
  readonly atSeconds: number;
  /** A folder to copy into the output folder before the trial; `null` to begin with an empty output folder. */
  readonly before: string | null;
  /** Path of the module to run. Default: the command itself. */
  readonly main?: string;
}

const preload = new URL("preload.ts", import.meta.url).href;
/** All objects that a trial needs: the target, the proxy in front of it, and a function that starts the harness. */
export interface TrialEnvironment extends Omit<Stage, "signal" | "startSecond" | "onEnd"> {
  readonly changes: HarnessChanges;
  /** A name by which the processes of the trial can be found. */
  readonly mark: string;
  /** Starts the harness. `folder` is its output folder. */
  readonly start: (folder: string, isSecond?: boolean) => HarnessProcess;
  /** Creates the output folder of a second process. */
  readonly makeSecond: () => string;
  readonly close: () => Promise<void>;
}

/**
 * Starts the target and prepares the folders of a trial.
 *
 * @param root an empty folder
 */
export async function prepareTrial(trial: Trial, root: string): Promise<TrialEnvironment> {
  const { seed, trouble, before, atSeconds, command } = trial;
  const numbers = seededRandom(seed);
  const target = await startTarget(root, trial.fault);
  const link = await startLink(target.port, numbers);
  const receiverPort = await freePort();
  const ports = { server: target.port, front: link.port };
  const targetFile = writeTrialTarget(root, { ...ports, receiver: receiverPort }, "trial-target.json");
  // The second process gets another port for its webhook receiver.
  const secondTargetFile = writeTrialTarget(root, { ...ports, receiver: 0 }, "second-target.json");
  const folder = makeOutput(root, "out", before);
  const atMs = Date.now() + atSeconds * 1000;
  const changes = trouble?.setUp?.({ numbers, command, folder, atMs }) ?? {};
  const mark = `${seed}-${process.pid}-${process.hrtime.bigint()}`;
  return {
    numbers,
    target,
    link,
    receiverPort,
    folder,
    changes,
    mark,
    keys: keysIn(readFileSync(targetFile, "utf8")),
    start: (out, isSecond = false) =>
      startHarness(
        harnessOptions(trial, {
          root,
          folder: out,
          targetFile: isSecond ? secondTargetFile : targetFile,
          changes,
          mark,
          isSecond,
        }),
      ),
    makeSecond: () => makeOutput(root, "second", null),
    close: async () => {
      chmodSync(folder, 0o777);
      await link.close();
      await target.close();
    },
  };
}

interface Place {
  readonly root: string;
  readonly folder: string;
  readonly targetFile: string;
  readonly changes: HarnessChanges;
  readonly mark: string;
  readonly isSecond: boolean;
}

function harnessOptions(trial: Trial, { root, folder, targetFile, changes, mark, isSecond }: Place) {
  const { interference, prefix = [], stdout = "read", args = [], asNobody = false } = changes;
  const temporary = join(root, "tmp");
  mkdirSync(temporary, { recursive: true });
  if (asNobody) giveToNobody(root);
  const preloading = interference === undefined ? {} : { NODE_OPTIONS: `--import ${preload}` };
  return {
    main: trial.main ?? commandModule,
    args: [...argumentsOf(trial.command, { targetFile, folder }), ...args],
    folder: root,
    environment: {
      ...markOf(mark),
      ...preloading,
      // The user `nobody` may not use the home folder of root.
      ...(asNobody ? { HOME: temporary } : {}),
      TMPDIR: temporary,
      CONFORMANCE_TROUBLE: JSON.stringify(interference ?? null),
    },
    prefix: [...(asNobody && isRoot() ? asNobodyPrefix : []), ...prefix],
    stdout,
    maxSeconds: isSecond ? maxSeconds[trial.command] : maxSecondsOf(trial),
  };
}

/** Returns the time limit of the harness in seconds. */
function maxSecondsOf({ command: name, trouble, atSeconds }: Trial): number {
  const all = maxSeconds[name];
  const isShort = trouble?.maxSeconds !== undefined && name !== "nightly with load";
  return isShort ? Math.min(all, atSeconds + trouble.maxSeconds) : all;
}

/** Id of the user `nobody`. Root may write to every folder, so tests of unwritable folders run as this user. */
const nobody = 65_534;
const asNobodyPrefix = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"] as const;
const isRoot = (): boolean => process.getuid?.() === 0;

function giveToNobody(root: string): void {
  if (!isRoot()) return;
  chmodSync(root, 0o755);
  for (const name of ["tmp", "out"]) {
    const path = join(root, name);
    if (!existsSync(path)) continue;
    chownSync(path, nobody, nobody);
    for (const file of readFiles(path).keys()) chownSync(join(path, file), nobody, nobody);
  }
}

/** Creates an output folder. Copies the files of an earlier process into it, if there was one. */
function makeOutput(root: string, name: string, before: string | null): string {
  const folder = join(root, name);
  mkdirSync(folder);
  if (before !== null) cpSync(before, folder, { recursive: true });
  return folder;
}
