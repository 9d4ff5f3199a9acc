import type { HarnessOptions } from "./harness-process.ts";
import type { Interference } from "./preload.ts";
import type { Link } from "./link.ts";
import type { TargetProcess } from "./target-process.ts";

/** The commands of the harness that are tried. */
export const commands = ["run", "load autocannon", "load k6", "nightly", "nightly with load"] as const;
export type CommandName = (typeof commands)[number];

/** The objects that a trouble may disturb while the harness is running. */
export interface Stage {
  /** Random numbers in [0, 1), from the seed of the trial. */
  readonly numbers: () => number;
  readonly target: TargetProcess;
  readonly link: Link;
  /** The keys in the target file. */
  readonly keys: readonly string[];
  /** The port on which the harness receives deliveries. */
  readonly receiverPort: number;
  /** The folder into which the harness writes all its files. */
  readonly folder: string;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Starts the same command once more. The second process is judged like the first. */
  readonly startSecond: (changes: { readonly sharesFolder: boolean }) => void;
  /** Registers a function that runs at the end of the trial, while its processes still exist. */
  readonly onEnd: (undo: () => void) => void;
}

/** The facts that a trouble may use before the harness starts. */
export interface Setup {
  readonly numbers: () => number;
  readonly command: CommandName;
  /** The folder into which the harness writes all its files. */
  readonly folder: string;
  /** When the trouble begins, in Unix milliseconds. */
  readonly atMs: number;
}

/** How a trouble changes the start of the harness. */
export interface HarnessChanges {
  readonly prefix?: readonly string[];
  readonly stdout?: HarnessOptions["stdout"];
  readonly interference?: Interference;
  /** Additional arguments of the command. */
  readonly args?: readonly string[];
  /** Whether the harness runs as the user `nobody` instead of root. */
  readonly asNobody?: boolean;
}

/** A kind of trouble that happens while the harness runs. */
export interface Trouble {
  readonly name: string;
  /** A sentence for the table in docs/trust.md. */
  readonly summary: string;
  readonly commands: readonly CommandName[];
  /**
   * Exit codes that are right if the trouble had an effect. Code 1 is always right if the target has a fault and a
   * clause was proven broken.
   */
  readonly codes: readonly number[];
  /** Exit codes that are right for a second process. Default: `codes`. */
  readonly secondCodes?: readonly number[];
  /** Signals by which the process may end. */
  readonly deaths?: readonly NodeJS.Signals[];
  /** Whether temporary files may remain, because the process had no chance to remove them. */
  readonly leavesFiles?: boolean;
  /**
   * Whether the same command runs afterwards in the same folder. The second command then has to remove the temporary
   * files of the first.
   */
  readonly isFollowed?: boolean;
  /**
   * Maximum time from the beginning of the trouble to the end of the command, in seconds. Default: the time limit of
   * the command.
   */
  readonly maxSeconds?: number;
  readonly setUp?: (setup: Setup) => HarnessChanges;
  /** Causes the trouble. Resolves once the trouble is over. */
  readonly act?: (stage: Stage) => Promise<void> | void;
}
