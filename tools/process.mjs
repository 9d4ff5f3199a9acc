// Child processes for the set-up and check commands. Plain JavaScript, because the host's Node runs it before ours is installed.
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The running commands. */
const running = new Set();

/** Ends every command that {@link capture} has started. */
export function endAll() {
  for (const child of running) child.kill();
}

/** The exit code a shell gives to a process that ended by `signal`. */
export function codeOfSignal(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

/**
 * Runs a command to its end without a shell. Collects stdout and stderr in one string.
 *
 * A signal to this process is passed on. This process then ends with the signal's code once the child has ended, so that an interrupted command
 * leaves nothing behind. A command that cannot be started has the code 127.
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
    if (isPatient) letOthersBefore(child);
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

/** Called right after the start, so that every thread has the low priority. */
function letOthersBefore({ pid }) {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process has ended, or this machine does not allow it: the priority stays normal.
  }
}
