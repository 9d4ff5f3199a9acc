import { readFileSync } from "node:fs";

/** Seconds of processor time that a process had used, at moments of its life. Empty where the machine does not tell. */
export type CpuReadings = readonly { readonly atMs: number; readonly cpuSeconds: number }[];

const INTERVAL_MS = 250;
/** Linux counts a process's time in hundredths of a second, whatever the kernel's own clock is. */
const TICKS_PER_SECOND = 100;

/** Reads from time to time what a process has used. Linux tells it in `/proc`; elsewhere nothing is known. */
export function sampleCpu(pid: number | undefined): { read(): CpuReadings; stop(): void } {
  const readings: { atMs: number; cpuSeconds: number }[] = [];
  const read = (): void => {
    const cpuSeconds = pid === undefined ? null : cpuSecondsOf(pid);
    if (cpuSeconds !== null) readings.push({ atMs: Date.now(), cpuSeconds });
  };
  read();
  const timer = setInterval(read, INTERVAL_MS);
  timer.unref();
  return { read: () => readings, stop: () => clearInterval(timer) };
}

function cpuSecondsOf(pid: number): number | null {
  try {
    // The name of the program stands in brackets, and may hold blanks and brackets itself.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}

/** The share of one core that was used in the most busy second between two moments; `null` where that is not known. */
export function peakCpuShare(business: CpuReadings, fromMs: number, toMs: number): number | null {
  const during = business.filter(({ atMs }) => atMs >= fromMs - INTERVAL_MS && atMs <= toMs + INTERVAL_MS);
  const shares = during.flatMap((later, at) => {
    const earlier = during.slice(0, at).findLast(({ atMs }) => later.atMs - atMs >= 950);
    return earlier === undefined
      ? []
      : [(later.cpuSeconds - earlier.cpuSeconds) / ((later.atMs - earlier.atMs) / 1000)];
  });
  return shares.length === 0 ? null : Math.max(...shares);
}
