/** A clock that runs only when it is advanced. All times are in milliseconds. */
export interface HostingClock {
  readonly now: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
  /** Runs due timers in order and awaits `settle` after each. */
  readonly advance: (ms: number, settle: () => Promise<void>) => Promise<void>;
}

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

export function manualClock(): HostingClock {
  let nowMs = 0;
  const timers = new Set<Timer>();
  const nextBy = (untilMs: number): Timer | undefined =>
    [...timers].filter(({ atMs }) => atMs <= untilMs).toSorted((one, other) => one.atMs - other.atMs)[0];
  return {
    now: () => nowMs,
    after: (ms, run) => {
      const timer = { atMs: nowMs + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance: async (ms, settle) => {
      const untilMs = nowMs + ms;
      await settle();
      for (let timer = nextBy(untilMs); timer !== undefined; timer = nextBy(untilMs)) {
        timers.delete(timer);
        nowMs = Math.max(nowMs, timer.atMs);
        timer.run();
        await settle();
      }
      nowMs = untilMs;
    },
  };
}
