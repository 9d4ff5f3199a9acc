import type { Command } from "commander";

import { exitCodes } from "../base/process-end.ts";
import { withSignals, writeResults } from "./signals.ts";

export interface CommandSteps<Args extends readonly unknown[], Prepared, Result> {
  /** Reads the arguments and flags. Throws usage errors here if possible, before anything is sent or written. */
  readonly prepare: (...args: Args) => Prepared | Promise<Prepared>;
  readonly act: (prepared: Prepared) => Result | Promise<Result>;
  readonly present: (result: Result, prepared: Prepared) => number | Promise<number>;
}

const endCallbacks = new Set<() => void>();

export const onCommandEnd = (step: () => void): void => void endCallbacks.add(step);

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

export function printResult(text: string): number {
  process.stdout.write(text);
  return exitCodes.fine;
}
