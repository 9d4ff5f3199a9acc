import { setTimeout as sleep } from "node:timers/promises";

import type { Modes } from "./harms.ts";
import type { Harm } from "./server.ts";
import { type HostileProblem, problemsOf, type Tried, tryMode } from "./try-mode.ts";

/** A hostile behaviour, and the result of a run against it. */
export interface TriedMode {
  readonly name: string;
  readonly tried: Tried;
  readonly problems: readonly HostileProblem[];
}

export interface TryAllOptions {
  /** Maximum number of runs at the same time. */
  readonly atOnce: number;
  readonly cores: number;
  readonly onTried: (mode: TriedMode) => void;
}

/** Time limits of a run, in seconds: for runs that share the machine, and for a run that is alone on it. */
const maxSeconds = { shared: 150, alone: 90 } as const;
const pollMs = 100;

/**
 * Tries every hostile behaviour. Runs mostly wait, so more of them start as long as processor cores are free. A run that took too long is
 * repeated alone at the end, and only its second result is reported.
 */
export async function tryAll(modes: Modes, { atOnce, cores, onTried }: TryAllOptions): Promise<void> {
  const load = measureCoreUsage();
  const late: (readonly [string, Harm])[] = [];
  const underway = new Set<Promise<void>>();
  const isFull = (): boolean => underway.size > 0 && (underway.size >= atOnce || load.now() > cores - 0.5);
  const tryShared = async (name: string, harm: Harm): Promise<void> => {
    const mode = await tryOne(name, harm, maxSeconds.shared, load);
    if (isOnlyLate(mode)) late.push([name, harm]);
    else onTried(mode);
  };
  for (const [name, harm] of Object.entries(modes)) {
    while (isFull()) await sleep(pollMs);
    const work: Promise<void> = tryShared(name, harm).finally(() => underway.delete(work));
    underway.add(work);
  }
  await Promise.all(underway);
  for (const [name, harm] of late) onTried(await tryOne(name, harm, maxSeconds.alone, load));
}

async function tryOne(name: string, harm: Harm, seconds: number, load: CoreUsage): Promise<TriedMode> {
  const one = load.open();
  try {
    const tried = await tryMode(harm, { maxSeconds: seconds, onPoll: one.observe });
    return { name, tried, problems: problemsOf(tried) };
  } finally {
    one.close();
  }
}

const isOnlyLate = ({ problems }: TriedMode): boolean =>
  problems.some(({ kind }) => kind === "time") && problems.every(({ kind }) => kind === "time" || kind === "report");

/** Measures how many processor cores are in use. */
interface CoreUsage {
  /** Adds a process to the measurement. It counts as fully busy at first, until observations show less. */
  readonly open: () => { readonly observe: (isBusy: boolean) => void; readonly close: () => void };
  /** Returns the number of cores in use. Includes this process, which runs the hostile targets. */
  readonly now: () => number;
}

/** Weight of a new observation in the moving average of a process. */
const observationWeight = 0.1;

function measureCoreUsage(): CoreUsage {
  const shares = new Map<object, number>();
  let before = performance.eventLoopUtilization();
  let own = 0;
  return {
    open: () => {
      const one = {};
      shares.set(one, 1);
      return {
        observe: (isBusy) =>
          void shares.set(one, (shares.get(one) ?? 1) * (1 - observationWeight) + (isBusy ? observationWeight : 0)),
        close: () => void shares.delete(one),
      };
    },
    now: () => {
      const since = performance.eventLoopUtilization(before);
      before = performance.eventLoopUtilization();
      own = own * (1 - observationWeight) + since.utilization * observationWeight;
      return own + [...shares.values()].reduce((sum, each) => sum + each, 0);
    },
  };
}
