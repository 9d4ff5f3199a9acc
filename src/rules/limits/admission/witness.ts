import { type Decision, type History, requestsIn } from "./history.ts";

export interface Witness {
  /** Decisions whose outcomes prove the breach. */
  readonly known: readonly Decision[];
  /** The history with every other outcome forgotten, which is still a breach. */
  readonly history: History;
}

export type IsBreach = (history: History) => boolean;

/** Of decisions, how many of the requests that each stands for. */
type Part = ReadonlyMap<Decision, number>;

/** Requests that all trials together may look at: about a second's work. */
const budget = 60_000;

/**
 * The smallest part of a breach that proves it alone. What is left out is not removed, for that might make a breach out of
 * a legal history: its outcome is forgotten, so that it may have been admitted, refused or never have arrived.
 */
export function smallestWitness(history: History, isBreach: IsBreach): Witness {
  const ordered = history.decisions.toSorted((left, right) => left.inFlight.toMs - right.inFlight.toMs);
  const all = requestsIn(ordered);
  const provenBy = (known: Part) => isBreach(knowingOnly(history, known));
  const end = leastThat(all, (count) => provenBy(between(ordered, 0, count)));
  const start = end - leastThat(end, (count) => provenBy(between(ordered, end - count, end)));
  const known = dropChunks(between(ordered, start, end), Math.floor(budget / (all + 20)), provenBy);
  return {
    known: known
      .entries()
      .map(([decision, count]) => ({ ...decision, count }))
      .toArray(),
    history: knowingOnly(history, known),
  };
}

/** The requests from one place to another. */
function between(ordered: readonly Decision[], from: number, end: number): Part {
  const part = new Map<Decision, number>();
  let before = 0;
  for (const decision of ordered) {
    const count = Math.min(end, before + decision.count) - Math.max(from, before);
    if (count > 0) part.set(decision, count);
    before += decision.count;
  }
  return part;
}

/** Forgets all outcomes but those of `known`, and leaves out what was sent after the last of them was answered. */
function knowingOnly(history: History, known: Part): History {
  const lastMs = known.keys().reduce((most, decision) => Math.max(most, decision.inFlight.toMs), -Infinity);
  const decisions = history.decisions
    .filter((decision) => decision.inFlight.fromMs <= lastMs)
    .flatMap((decision): Decision[] => {
      const count = known.get(decision) ?? 0;
      const others = decision.count - count;
      if (others === 0) return [decision];
      const forgotten: Decision = { ...decision, count: others, outcome: "unknown", held: null };
      return count === 0 ? [forgotten] : [{ ...decision, count }, forgotten];
    });
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

/** Forgets ever smaller chunks that the proof does not need, in so many trials. */
function dropChunks(all: Part, most: number, provenBy: (known: Part) => boolean): Part {
  if (most === 0) return all;
  let known = [...all].flatMap(([decision, count]) => Array<Decision>(count).fill(decision));
  let trials = most;
  for (let size = Math.ceil(known.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < known.length && trials > 0; trials -= 1) {
      const fewer = known.toSpliced(at, size);
      if (provenBy(partOf(fewer))) known = fewer;
      else at += size;
    }
  }
  return partOf(known);
}

/** One for each time that a decision is named. */
function partOf(named: readonly Decision[]): Part {
  const part = new Map<Decision, number>();
  for (const decision of named) part.set(decision, (part.get(decision) ?? 0) + 1);
  return part;
}
