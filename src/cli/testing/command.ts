import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { afterAll } from "vitest";

/** The exit code and the output of a command. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line. Concurrent calls run one after the other. */
export type CommandLine = (args: readonly string[], variables?: Readonly<Record<string, string>>) => Promise<Ended>;

/** A command line for the process of `driver.ts`, which takes one as JSON on each line of its input. */
export interface CommandRequest {
  readonly folder: string;
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** A child process that runs command lines one after the other. */
interface Driver {
  readonly run: (command: CommandRequest) => Promise<Ended>;
  readonly kill: () => void;
}

/** The child process that all test files of a worker share, because it takes a second to start. */
let driver: Driver | null = null;
let last: Promise<unknown> = Promise.resolve();
let waiting = 0;

/**
 * Creates a function that runs command lines in a folder. Call it at the top of a file or in a `describe`, because it registers a clean-up.
 */
export function commandLineIn(folder: string): CommandLine {
  afterAll(() => {
    // A command may still run after its test timed out. It must not delay the next test file.
    if (waiting > 0) driver?.kill();
  });
  return async (args, variables = {}) => {
    waiting += 1;
    const ended = last.then(() => (driver ??= startDriver()).run({ folder, args, variables }));
    last = ended.catch(() => {});
    try {
      return await ended;
    } finally {
      waiting -= 1;
    }
  };
}

function startDriver(): Driver {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    [new URL("driver.ts", import.meta.url).pathname],
    {
      env: { PATH: process.env["PATH"], NO_COLOR: "1", NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  const lines = createInterface(child.stdout);
  const gone = once(child, "exit").then(() => {
    driver = null;
    throw new Error("The process of the command line ended.");
  });
  gone.catch(() => {});
  return {
    run: async (command) => {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const [line] = (await Promise.race([once(lines, "line"), gone])) as [string];
      return JSON.parse(line) as Ended;
    },
    kill: () => void child.kill("SIGKILL"),
  };
}
