import type { HarnessOptions } from "./harness-process.ts";
import type { Interference } from "./preload.ts";
import type { Link } from "./link.ts";
import type { TargetProcess } from "./target-process.ts";

/** Commands of the harness that are tried. */
export const commands = ["run", "load autocannon", "load k6", "nightly", "nightly with load"] as const;
export type CommandName = (typeof commands)[number];

/** Everything that a trouble can disturb while the harness runs. */
export interface Stage {
  /** Random numbers in [0, 1) of the trial's seed. */
  readonly numbers: () => number;
  readonly target: TargetProcess;
  readonly link: Link;
  /** Keys of the target file. */
  readonly keys: readonly string[];
  /** Port where the harness takes deliveries. */
  readonly receiverPort: number;
  /** The folder where the harness writes everything. */
  readonly folder: string;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Starts the same command once more. It is judged like the first. */
  readonly startSecond: (changes: { readonly sharesFolder: boolean }) => void;
  /** Runs at the end of the trial, before the processes are gone. */
  readonly onEnd: (undo: () => void) => void;
}

/** Facts that a trouble may use before the harness starts. */
export interface Setup {
  readonly numbers: () => number;
  readonly command: CommandName;
  /** Folder where the harness writes everything. */
  readonly folder: string;
  /** Epoch milliseconds of the random instant. */
  readonly atMs: number;
}

/** Changes of how the harness starts. */
export interface HarnessChanges {
  readonly prefix?: readonly string[];
  readonly stdout?: HarnessOptions["stdout"];
  readonly interference?: Interference;
  /** Further arguments of the command. */
  readonly args?: readonly string[];
  /** Whether the folder belongs to another user, who has no rights of root. */
  readonly asNobody?: boolean;
}

/** A kind of trouble around the harness. */
export interface Trouble {
  readonly name: string;
  /** A sentence for a table. */
  readonly summary: string;
  readonly commands: readonly CommandName[];
  /** Exit codes that are right if the trouble had an effect. Another is 1, if the target has a fault that was proven. */
  readonly codes: readonly number[];
  /** Exit codes of a second process. Default: `codes`. */
  readonly secondCodes?: readonly number[];
  /** Signals that may end the process. */
  readonly deaths?: readonly NodeJS.Signals[];
  /** Whether momentary files may be left, since nobody can remove them. */
  readonly leavesFiles?: boolean;
  /** Whether the same command follows in the same folder, where it removes the momentary files that are left. */
  readonly isFollowed?: boolean;
  /** Maximum seconds from the instant to the end. Default: the time limit of the command. */
  readonly maxSeconds?: number;
  readonly setUp?: (setup: Setup) => HarnessChanges;
  /** Acts at the random instant. Resolves once the trouble is over. */
  readonly act?: (stage: Stage) => Promise<void> | void;
}
