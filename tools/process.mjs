// Child processes for the set-up and check commands. Plain JavaScript: it runs on the host's Node, before ours is there.
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];

/** What runs at this moment. */
const running = new Set();

/** Ends every command that {@link capture} has started and that has not ended. */
export function endAll() {
  for (const child of running) child.kill();
}

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
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv, isPatient?: boolean }} options `isPatient`: it takes what others leave of the processor
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

/** At once after its start, so that every thread of it is as patient. */
function letOthersBefore({ pid }) {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended, or this machine allows none to be set: then it is as any other.
  }
}
