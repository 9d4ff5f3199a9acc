// Starts child processes for the set-up and the checks. This file must run on old versions of Node.
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];

const running = new Set();

export function endAll() {
  for (const child of running) child.kill();
}

/** Returns the exit code that a shell reports for a process that was ended by a signal, e.g. 130 for `SIGINT`. */
function codeOfSignal(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

/**
 * Runs a command without a shell, and collects its output. Code 127: the command did not start. Forwards a signal to
 * the command, and then ends this process too.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv, hasLowPriority?: boolean }} options
 * @returns {Promise<{ code: number, output: string }>}
 */
export function capture(command, args, { hasLowPriority = false, ...options }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    running.add(child);
    if (hasLowPriority) lowerPriority(child);
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

/** Lowers a process's priority. Call this directly after its start, because existing threads keep their priority. */
function lowerPriority({ pid }) {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Ignores the error. Either the process has already ended, or the system forbids the change.
  }
}
