// Child processes for the set-up and check commands. Plain JavaScript: it runs on the host's Node, before ours is there.
import { spawn } from "node:child_process";
import { constants } from "node:os";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The exit code a shell gives to a process that ended by `signal`. */
export function codeOfSignal(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

/**
 * Runs a command to its end without a shell and collects stdout and stderr in one string.
 *
 * A signal that this process receives is passed on, and this process ends with its code once the child has ended, so
 * that an interrupted command leaves nothing behind. A command that cannot be started has the code 127.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ code: number, output: string }>}
 */
export function capture(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let received;
    const forward = (signal) => {
      received = signal;
      child.kill(signal);
    };
    const finish = (code) => {
      for (const signal of FORWARDED) process.off(signal, forward);
      if (received) process.exit(codeOfSignal(received));
      resolve({ code, output });
    };
    for (const signal of FORWARDED) process.on(signal, forward);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text) => (output += text));
    }
    child.on("error", (error) => {
      output += error.message;
      finish(127);
    });
    child.on("close", (code, signal) => finish(signal ? codeOfSignal(signal) : code));
  });
}
