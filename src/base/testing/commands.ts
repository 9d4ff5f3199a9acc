import { spawnSync } from "node:child_process";

/** Whether a command is on PATH and runs. Its arguments must do nothing, such as `--version`. */
const isHere = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;

export const hasOpenssl = (): boolean => isHere("openssl", "version");

export const hasPython = (): boolean => isHere("python3", "--version");
