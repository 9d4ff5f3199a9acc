import type { Command } from "commander";

import { exitCodes } from "../base/exit-codes.ts";
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

const endCallbacks = new Set<() => void>();

/** Registers a callback that runs when the command ends, whether it succeeds, fails or is interrupted. */
export const onCommandEnd = (step: () => void): void => void endCallbacks.add(step);

/** Sets the action of a command to its three steps. The exit code of `present` becomes that of the process. */
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
      for (const step of endCallbacks) step();
      endCallbacks.clear();
    }
  });

/** Prints the result of a command that only makes a text. Returns the exit code for success. */
export function printResult(text: string): number {
  process.stdout.write(text);
  return exitCodes.fine;
}
