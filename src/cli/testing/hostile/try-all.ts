import { setTimeout as sleep } from "node:timers/promises";

import type { Modes } from "./harms.ts";
import type { Harm } from "./server.ts";
import { type HostileProblem, problemsOf, type Tried, tryMode } from "./try-mode.ts";

/** What became of one mode. */
export interface TriedMode {
  readonly name: string;
  readonly tried: Tried;
  readonly problems: readonly HostileProblem[];
}

export interface TryAllOptions {
  /** So many at once, at most. */
  readonly atOnce: number;
  readonly cores: number;
  readonly onTried: (mode: TriedMode) => void;
}

/** Time for a mode that shares the machine, and for one that has it alone, in seconds. */
const mostSeconds = { shared: 150, alone: 90 } as const;
const lookMs = 100;

/**
 * Tries every mode: side by side, since most of them wait most of the time, but one more only while a core is idle. What took too long in
 * such company is tried again alone, at the end: only then it is told.
 */
export async function tryAll(modes: Modes, { atOnce, cores, onTried }: TryAllOptions): Promise<void> {
  const load = startLoad();
  const late: (readonly [string, Harm])[] = [];
  const underway = new Set<Promise<void>>();
  const isFull = (): boolean => underway.size > 0 && (underway.size >= atOnce || load.now() > cores - 0.5);
  const tryShared = async (name: string, harm: Harm): Promise<void> => {
    const mode = await tryOne(name, harm, mostSeconds.shared, load);
    if (isOnlyLate(mode)) late.push([name, harm]);
    else onTried(mode);
  };
  for (const [name, harm] of Object.entries(modes)) {
    while (isFull()) await sleep(lookMs);
    const work: Promise<void> = tryShared(name, harm).finally(() => underway.delete(work));
    underway.add(work);
  }
  await Promise.all(underway);
  for (const [name, harm] of late) onTried(await tryOne(name, harm, mostSeconds.alone, load));
}

async function tryOne(name: string, harm: Harm, seconds: number, load: Load): Promise<TriedMode> {
  const one = load.open();
  try {
    const tried = await tryMode(harm, { mostSeconds: seconds, onLook: one.saw });
    return { name, tried, problems: problemsOf(tried) };
  } finally {
    one.close();
  }
}

const isOnlyLate = ({ problems }: TriedMode): boolean =>
  problems.some(({ kind }) => kind === "time") && problems.every(({ kind }) => kind === "time" || kind === "report");

/** How many cores are taken. */
interface Load {
  /** That of one more process; it counts as busy until it was looked at for some time. */
  readonly open: () => { readonly saw: (isBusy: boolean) => void; readonly close: () => void };
  /** Targets are played by this process: it counts, too. */
  readonly now: () => number;
}

/** Each look changes what is known of a process by a tenth. */
const weight = 0.1;

function startLoad(): Load {
  const shares = new Map<object, number>();
  let before = performance.eventLoopUtilization();
  let own = 0;
  return {
    open: () => {
      const one = {};
      shares.set(one, 1);
      return {
        saw: (isBusy) => void shares.set(one, (shares.get(one) ?? 1) * (1 - weight) + (isBusy ? weight : 0)),
        close: () => void shares.delete(one),
      };
    },
    now: () => {
      const since = performance.eventLoopUtilization(before);
      before = performance.eventLoopUtilization();
      own = own * (1 - weight) + since.utilization * weight;
      return own + [...shares.values()].reduce((sum, each) => sum + each, 0);
    },
  };
}
