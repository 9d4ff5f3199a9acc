import { readFileSync } from "node:fs";

import type { Disturbance } from "./disturbance.ts";

export interface MachineClocks {
  /** A clock that never goes back. It may stand still while the machine sleeps. */
  readonly monotonic: () => number;
  /** The time of day, which the user or the system may change. */
  readonly wall: () => number;
  /** CPU time of this process, plus the time that its main thread waited for a processor. */
  readonly busy: () => number;
}

export const machineClocks: MachineClocks = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  busy: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000 + processorQueueMs();
  },
};

/** Returns how long this thread has waited for a processor, in ms; 0 except on Linux. */
function processorQueueMs(): number {
  try {
    return Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

const clockReadIntervalMs = 250;
/** Minimum duration of a stall. In a stall, the process neither uses the CPU nor waits for it. */
const minStallMs = 3000;
/** Minimum size of a clock jump. Since the last reading, the advances of `wall` and `monotonic` differ this much. */
const minJumpMs = 2000;

/** Watches for stalls: this machine sleeps, the process is stopped, or a clock jumps. */
export function watchStalls(startMs: number, clocks: MachineClocks = machineClocks) {
  const stalls: Disturbance[] = [];
  const read = () => ({ monotonic: clocks.monotonic(), wall: clocks.wall(), busy: clocks.busy() });
  let last = read();
  const check = (): void => {
    const now = read();
    const passedMs = now.monotonic - last.monotonic;
    const isStopped = passedMs - (now.busy - last.busy) >= minStallMs;
    const isJump = Math.abs(now.wall - last.wall - passedMs) >= minJumpMs;
    const lastedMs = Math.max(passedMs, Math.abs(now.wall - last.wall));
    if (isStopped || isJump)
      stalls.push({ kind: "stalled", fromMs: last.monotonic - startMs, toMs: now.monotonic - startMs, lastedMs });
    last = now;
  };
  const timer = setInterval(check, clockReadIntervalMs).unref();
  return {
    all: (): readonly Disturbance[] => {
      check();
      return stalls;
    },
    close: (): void => clearInterval(timer),
  };
}
