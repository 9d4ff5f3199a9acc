import type { Command } from "commander";

import { runEndCallbacks } from "./command-end.ts";
import { withSignals, writeResults } from "./signals.ts";

/** The three steps of a command, in the order in which they run. */
export interface CommandSteps<Args extends readonly unknown[], Prepared, Result> {
  /** Reads the arguments and flags. Finds every usage error before anything is sent or written. */
  readonly prepare: (...args: Args) => Prepared | Promise<Prepared>;
  /** Does the work of the command, by calling a use case of src/app. */
  readonly act: (prepared: Prepared) => Result | Promise<Result>;
  /** Prints the result, writes its files, and returns the exit code. */
  readonly present: (result: Result, prepared: Prepared) => number | Promise<number>;
}

/**
 * Returns the action of a command that runs its three steps. The exit code of `present` becomes that of the process.
 */
export const withSteps = <Args extends readonly unknown[], Prepared, Result>(
  command: Command,
  { prepare, act, present }: CommandSteps<Args, Prepared, Result>,
): Command =>
  command.action(async (...args: unknown[]) => {
    try {
      const prepared = await prepare(...(args as unknown as Args));
      process.exitCode = await withSignals(async () => {
        const result = await act(prepared);
        return writeResults(() => present(result, prepared));
      });
    } finally {
      runEndCallbacks();
    }
  });
