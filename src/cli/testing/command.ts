import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** How a command line ended. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A process that takes one command line after another. */
export interface CommandLine {
  readonly run: (args: readonly string[], variables?: Readonly<Record<string, string>>) => Promise<Ended>;
  readonly close: () => void;
}

const driver = new URL("driver.ts", import.meta.url).pathname;

/** @param folder the working directory of every command */
export function startCommandLine(folder: string): CommandLine {
  const child = spawn(process.execPath, [driver], {
    cwd: folder,
    env: { PATH: process.env["PATH"], NO_COLOR: "1" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout);
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (args: readonly string[], variables: Readonly<Record<string, string>>): Promise<Ended> => {
    child.stdin.write(`${JSON.stringify({ args, variables })}\n`);
    const [line] = (await once(lines, "line")) as [string];
    return JSON.parse(line) as Ended;
  };
  return {
    run: (args, variables = {}) => {
      const ended = last.then(() => ask(args, variables));
      last = ended.catch(() => {});
      return ended;
    },
    close: () => child.stdin.end(),
  };
}
