import type { Decision, History } from "./history.ts";

export interface Witness {
  /** Decisions whose outcomes prove the breach. */
  readonly known: readonly Decision[];
  /** The history with every other outcome forgotten, which is still a breach. */
  readonly history: History;
}

export type IsBreach = (history: History) => boolean;

/** Decisions that all trials together may look at: about a second's work. */
const budget = 60_000;

/**
 * The smallest part of a breach that proves it alone. What is left out is not removed, for that might make a breach out of
 * a legal history: its outcome is forgotten, so that it may have been admitted, refused or never have arrived.
 */
export function smallestWitness(history: History, isBreach: IsBreach): Witness {
  const ordered = history.decisions.toSorted((left, right) => left.inFlight.toMs - right.inFlight.toMs);
  const provenBy = (known: readonly Decision[]) => isBreach(knowingOnly(history, known));
  const end = leastThat(ordered.length, (count) => provenBy(ordered.slice(0, count)));
  const early = ordered.slice(0, end);
  const start = end - leastThat(end, (count) => provenBy(early.slice(end - count)));
  const known = dropChunks(early.slice(start), budget, provenBy, history);
  return { known, history: knowingOnly(history, known) };
}

/** Forgets all outcomes but those of `known`, and leaves out what was sent after the last of them was answered. */
function knowingOnly(history: History, known: readonly Decision[]): History {
  const kept = new Set(known);
  const lastMs = known.reduce((most, decision) => Math.max(most, decision.inFlight.toMs), -Infinity);
  const decisions = history.decisions
    .filter((decision) => decision.inFlight.fromMs <= lastMs)
    .map((decision): Decision => (kept.has(decision) ? decision : { ...decision, outcome: "unknown", held: null }));
  return { ...history, decisions };
}

/** The least count up to `most` that holds, where every larger one holds as well. */
function leastThat(most: number, holds: (count: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

/** Forgets ever smaller chunks that the proof does not need, as long as the budget lasts. */
function dropChunks(
  all: readonly Decision[],
  allowance: number,
  provenBy: (known: readonly Decision[]) => boolean,
  history: History,
): readonly Decision[] {
  let known = all;
  let trials = Math.floor(allowance / (history.decisions.length + 20));
  for (let size = Math.ceil(all.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < known.length && trials > 0; trials -= 1) {
      const fewer = known.toSpliced(at, size);
      if (provenBy(fewer)) known = fewer;
      else at += size;
    }
  }
  return known;
}
