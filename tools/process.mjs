// Starts child processes for the set-up and the checks. Plain JavaScript, because it also runs on the user's Node,
// before the set-up installs the Node that the project pins.
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
 * Runs a command to its end, without a shell. Collects stdout and stderr in one string.
 *
 * Forwards signals to the child, so that nothing is left running. After a signal, this process exits as soon as the
 * child has ended. If the command cannot be started, the code is 127.
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

/**
 * Gives a process low priority. Must be called right after its start, because threads that started earlier keep their
 * priority.
 */
function lowerPriority({ pid }) {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Ignored: the process has already ended, or the system does not allow a lower priority.
  }
}
