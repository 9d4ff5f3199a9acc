import { once } from "node:events";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";

import { seededNumbers } from "../../../base/statistics/random.ts";
import { argumentsOf, maxSeconds } from "./command-lines.ts";
import { readFiles } from "./files.ts";
import { type HarnessProcess, markOf, startHarness } from "./harness-process.ts";
import { startLink } from "./link.ts";
import { keysIn, startTarget, writeTrialTarget } from "./target-process.ts";
import type { CommandName, HarnessChanges, Stage, Trouble } from "./trouble.ts";

/** One run of a command, and the trouble that it meets. */
export interface Trial {
  readonly seed: number;
  readonly command: CommandName;
  /** `null`: a quiet trial. */
  readonly trouble: Trouble | null;
  /** Name of the fault of the target; `null`: none. */
  readonly fault: string | null;
  /** When the trouble comes, in seconds after the start of the harness. */
  readonly atSeconds: number;
  /** A folder whose content the output folder has before the trial; `null`: it is empty. */
  readonly before: string | null;
  /** Module to run instead of the harness. Default: the command. */
  readonly main?: string;
}

const commandModule = new URL("../../main.ts", import.meta.url).pathname;
const preload = new URL("preload.ts", import.meta.url).href;
/** The target of a trial, the link to it, and everything that a process of the harness is started with. */
export interface TrialEnvironment extends Omit<Stage, "signal" | "startSecond" | "onEnd"> {
  readonly changes: HarnessChanges;
  /** Marks every process that the harness starts. */
  readonly mark: string;
  /** Starts a process of the harness that writes into a folder. */
  readonly start: (folder: string, isSecond?: boolean) => HarnessProcess;
  /** Makes an output folder for a second process. */
  readonly makeSecond: () => string;
  readonly close: () => Promise<void>;
}

/**
 * Starts the target, and prepares the folders.
 *
 * @param root an empty folder
 */
export async function prepareTrial(trial: Trial, root: string): Promise<TrialEnvironment> {
  const { seed, trouble, before, atSeconds, command } = trial;
  const numbers = seededNumbers(seed);
  const target = await startTarget(root, trial.fault);
  const link = await startLink(target.port, numbers);
  const receiverPort = await freePort();
  const ports = { server: target.port, front: link.port };
  const targetFile = writeTrialTarget(root, { ...ports, receiver: receiverPort }, "trial-target.json");
  // The receiver of a second process needs a port of its own.
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
      // The home of root is closed to others.
      ...(asNobody ? { HOME: temporary } : {}),
      TMPDIR: temporary,
      CONFORMANCE_TROUBLE: JSON.stringify(interference ?? null),
    },
    prefix: [...(asNobody && isRoot() ? asNobodyPrefix : []), ...prefix],
    stdout,
    maxSeconds: isSecond ? maxSeconds[trial.command] : maxSecondsOf(trial),
  };
}

/** Time limit of the harness, in seconds. */
function maxSecondsOf({ command: name, trouble, atSeconds }: Trial): number {
  const all = maxSeconds[name];
  const isShort = trouble?.maxSeconds !== undefined && name !== "nightly with load";
  return isShort ? Math.min(all, atSeconds + trouble.maxSeconds) : all;
}

/** Root may write to every folder, so the harness runs as a user without rights. */
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

/** Makes an output folder with what an earlier process has written. */
function makeOutput(root: string, name: string, before: string | null): string {
  const folder = join(root, name);
  mkdirSync(folder);
  if (before !== null) cpSync(before, folder, { recursive: true });
  return folder;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
