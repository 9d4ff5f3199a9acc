// Starts child processes for the set-up and the checks. This file must run on any installed Node.
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The child processes that are running. */
const running = new Set();

/** Ends every command that {@link capture} has started. */
export function endAll() {
  for (const child of running) child.kill();
}

/** Returns the exit code that a shell gives to a process that ended by `signal`. */
export function codeOfSignal(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

/**
 * Runs a command without a shell, forwards signals, and collects all output. Code 127: it did not start.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv, isPatient?: boolean }} options `isPatient`: runs with a low priority
 * @returns {Promise<{ code: number, output: string }>}
 */
export function capture(command, args, { isPatient = false, ...options }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    running.add(child);
    if (isPatient) lowerPriority(child);
    let output = "";
    let received;
    const forward = (signal) => {
      received = signal;
      child.kill(signal);
    };
    const finish = (code) => {
      running.delete(child);
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

/** Gives a process low priority. Call it right after the start: earlier threads keep their priority. */
function lowerPriority({ pid }) {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Ignored: the process has already ended, or the system does not allow a lower priority.
  }
}
