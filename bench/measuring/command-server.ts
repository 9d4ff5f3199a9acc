import { spawn } from "node:child_process";
import { once } from "node:events";

/** A running command that serves until it is closed. */
export interface CommandServer {
  readonly close: () => Promise<void>;
}

/**
 * Starts a command with the Node of this process. Resolves when the command first prints something.
 *
 * @throws {Error} if the command ends before it prints anything
 */
export async function startCommandServer(args: readonly string[]): Promise<CommandServer> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const killed = (): void => void child.kill("SIGKILL");
  process.once("exit", killed);
  const exited = once(child, "exit");
  await Promise.race([
    once(child.stdout, "data"),
    exited.then(() => Promise.reject(new Error(`\`node ${args.join(" ")}\` ended before it served`))),
  ]);
  child.stdout.resume();
  return {
    close: async () => {
      child.kill("SIGTERM");
      await exited;
      process.off("exit", killed);
    },
  };
}
