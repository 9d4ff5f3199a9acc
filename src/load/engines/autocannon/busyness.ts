/** How busy this process is, in shares of one core. */
export interface Busyness {
  /** The most busy stretch so far, from 0 to 1. */
  readonly busiest: () => number;
  readonly end: () => void;
}

const stretchMs = 1000;
/** What is shorter says more of the clock than of the work. */
const shortestMs = 200;

/** Measures user and system time, a second at a time. */
export function watchBusyness(): Busyness {
  let busiest = 0;
  let since = performance.now();
  let used = process.cpuUsage();
  const measure = (): void => {
    const elapsedMs = performance.now() - since;
    if (elapsedMs < shortestMs) return;
    const { user, system } = process.cpuUsage(used);
    // The garbage collector has threads of its own: more than one core is still just busy.
    busiest = Math.max(busiest, Math.min(1, (user + system) / 1000 / elapsedMs));
    since = performance.now();
    used = process.cpuUsage();
  };
  const timer = setInterval(measure, stretchMs);
  return {
    busiest: () => {
      measure();
      return busiest;
    },
    end: () => clearInterval(timer),
  };
}
