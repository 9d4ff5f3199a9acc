import { spawn } from "node:child_process";
import { once } from "node:events";

/** A command that serves until it is closed. */
export interface CommandServer {
  readonly close: () => Promise<void>;
}

/**
 * Starts a command with this process's Node. Resolves at the command's first output.
 *
 * @throws {Error} if the command ends before any output
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
