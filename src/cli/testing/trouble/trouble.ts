import type { HarnessOptions } from "./harness-process.ts";
import type { Interference } from "./preload.ts";
import type { Link } from "./link.ts";
import type { TargetProcess } from "./target-process.ts";
import { join } from "node:path";

/** Commands that take less than a minute without trouble. */
export const quickCommands = ["run", "load autocannon", "load k6", "nightly"] as const;
/** Commands of the harness on which trouble is tried. */
export const commands = [...quickCommands, "nightly with load"] as const;
export type CommandName = (typeof commands)[number];

/** Everything that a trouble may disturb while the harness runs. */
export interface Stage {
  /** Yields random numbers in [0, 1), from the seed of the trial. */
  readonly numbers: () => number;
  readonly target: TargetProcess;
  readonly link: Link;
  /** All keys in the target file. */
  readonly keys: readonly string[];
  /** Port of the harness's webhook receiver. */
  readonly receiverPort: number;
  /** The output folder of the harness. */
  readonly folder: string;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Starts the same command a second time. The second process is judged as well. */
  readonly startSecond: (changes: { readonly sharesFolder: boolean }) => void;
  /** Registers a function that runs at the end of the trial, before its processes are ended. */
  readonly onEnd: (undo: () => void) => void;
}

/** Facts that are known before the harness starts. A trouble may use them. */
export interface Setup {
  readonly numbers: () => number;
  readonly command: CommandName;
  /** The output folder of the harness. */
  readonly folder: string;
  /** When the trouble begins, in Unix milliseconds. */
  readonly atMs: number;
}

/** How a trouble changes the command line or the environment of the harness. */
export interface HarnessChanges {
  readonly prefix?: readonly string[];
  readonly stdout?: HarnessOptions["stdout"];
  readonly interference?: Interference;
  /** Arguments to add to the command. */
  readonly args?: readonly string[];
  /** Whether the harness runs as the user `nobody` instead of root. */
  readonly asNobody?: boolean;
}

/** A kind of trouble that occurs while the harness runs. */
export interface Trouble {
  readonly name: string;
  /** A sentence for the table of troubles in docs/trust.md. */
  readonly summary: string;
  readonly commands: readonly CommandName[];
  /** Correct exit codes if the trouble had an effect. In addition, 1 is correct if the target has a fault and a clause was found broken. */
  readonly codes: readonly number[];
  /** Correct exit codes of a second process. Default: `codes`. */
  readonly secondCodes?: readonly number[];
  /** Signals that may end the process. */
  readonly deaths?: readonly NodeJS.Signals[];
  /** Whether temporary files may remain. This applies if the process had no chance to remove them. */
  readonly leavesFiles?: boolean;
  /** Whether the same command runs a second time in the same folder. It must then remove the temporary files of the first. */
  readonly isFollowed?: boolean;
  /** Longest time from the trouble to the end of the command, in seconds. Default: the time limit of the command. */
  readonly maxSeconds?: number;
  readonly setUp?: (setup: Setup) => HarnessChanges;
  /** Causes the trouble. Resolves once the trouble is over. */
  readonly act?: (stage: Stage) => Promise<void> | void;
}

/** Returns a random number between `min` and `max`. `numbers` yields random numbers in [0, 1). */
export const numberBetween = (numbers: () => number, min: number, max: number): number => min + numbers() * (max - min);

/** Returns a random item of a list, which must not be empty. */
export const randomItem = <T>(numbers: () => number, items: readonly T[]): T =>
  items[Math.floor(numbers() * items.length)] as T;

/** File names for the additional formats, by the name of the flag. */
const formatFiles = {
  "--html": "report.html",
  "--junit": "junit.xml",
  "--ctrf": "ctrf.json",
  "--markdown": "summary.md",
  "--badge": "badge.svg",
  "--statement": "statement.json",
} as const;

/** Time limit of a run, in seconds. Without trouble, a run takes a few seconds. */
const maxRunSeconds = 60;

/** Time limit of each command on a busy machine, in seconds. It depends on the options that the trials give to the command. */
export const maxSeconds: Readonly<Record<CommandName, number>> = {
  run: maxRunSeconds + 25,
  "load autocannon": 150,
  "load k6": 150,
  nightly: maxRunSeconds + 25,
  // Between run and load, the keys pause for a minute.
  "nightly with load": maxRunSeconds + 150,
};

interface CommandPlan {
  readonly targetFile: string;
  /** Folder for the report or the history that the command writes. */
  readonly folder: string;
}

/** Returns the arguments of a command that writes all its files into `folder`. */
export function argumentsOf(command: CommandName, { targetFile, folder }: CommandPlan): readonly string[] {
  const target = ["--target", targetFile];
  const bounds = ["--max-wait", "5s", "--max-time", `${maxRunSeconds}s`, "--max-window", "100"];
  const formats = Object.entries(formatFiles).flatMap(([flag, name]) => [flag, join(folder, name)]);
  switch (command) {
    case "run":
      return ["run", ...target, ...bounds, "--out", folder, ...formats, "--har", join(folder, "run.har")];
    case "load autocannon":
    case "load k6": {
      const engine = command.slice("load ".length);
      return ["load", "burst", "--tier", "free", "--engine", engine, "--yes", ...target, "--out", folder, ...formats];
    }
    case "nightly":
      return ["nightly", ...target, ...bounds, "--no-load", "--history", folder];
    case "nightly with load":
      return ["nightly", ...target, ...bounds, "--scenario", "burst", "--yes", "--history", folder];
  }
}
