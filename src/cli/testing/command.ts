import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { afterAll } from "vitest";

/** How a command line ended. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line; several wait for each other. */
export type CommandLine = (args: readonly string[], variables?: Readonly<Record<string, string>>) => Promise<Ended>;

interface Asked {
  readonly folder: string;
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** A process that takes one command line after another. */
interface Driver {
  readonly ask: (asked: Asked) => Promise<Ended>;
  readonly kill: () => void;
}

/** One for all files of a worker, since it takes a second to start. */
let driver: Driver | null = null;
let last: Promise<unknown> = Promise.resolve();
let waiting = 0;

/**
 * The command line, as from a shell that stands in a folder. To be called where a file or a `describe` begins: what it left behind ends with
 * that.
 */
export function commandLineIn(folder: string): CommandLine {
  afterAll(() => {
    // Nobody waits for it any longer: the next file must not either.
    if (waiting > 0) driver?.kill();
  });
  return async (args, variables = {}) => {
    waiting += 1;
    const ended = last.then(() => (driver ??= startDriver()).ask({ folder, args, variables }));
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
    ask: async (asked) => {
      child.stdin.write(`${JSON.stringify(asked)}\n`);
      const [line] = (await Promise.race([once(lines, "line"), gone])) as [string];
      return JSON.parse(line) as Ended;
    },
    kill: () => void child.kill("SIGKILL"),
  };
}
