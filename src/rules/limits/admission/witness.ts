import { type Decision, type History, requestsIn } from "./history.ts";

export interface Witness {
  /** Decisions whose outcomes prove the breach. */
  readonly known: readonly Decision[];
  /** The history in which every other outcome is unknown, which is still a breach. */
  readonly history: History;
}

export type IsBreach = (history: History) => boolean;

/** For each decision, how many of its requests belong to the part. */
type Part = ReadonlyMap<Decision, number>;

/** The number of requests that all trials together may examine: about a second's work. */
const budget = 60_000;

/**
 * Finds the smallest part of a breach that proves it alone. Other requests are not removed, because that might make a legal history a breach.
 * Their outcome becomes unknown: they may have been admitted or refused, or never have arrived.
 */
export function smallestWitness(history: History, isBreach: IsBreach): Witness {
  const ordered = history.decisions.toSorted((left, right) => left.inFlight.toMs - right.inFlight.toMs);
  const all = requestsIn(ordered);
  const provenBy = (known: Part) => isBreach(knowingOnly(history, known));
  const end = smallestCount(all, (count) => provenBy(between(ordered, 0, count)));
  const start = end - smallestCount(end, (count) => provenBy(between(ordered, end - count, end)));
  const known = dropChunks(between(ordered, start, end), Math.floor(budget / (all + 20)), provenBy);
  return {
    known: known
      .entries()
      .map(([decision, count]) => ({ ...decision, count }))
      .toArray(),
    history: knowingOnly(history, known),
  };
}

/**
 * Returns the requests from index `from` up to `end`, exclusive. A decision may stand for several requests, so it may
 * be cut.
 */
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

/** Makes all outcomes unknown but those of `known`, and drops requests sent after the last of these was answered. */
function knowingOnly(history: History, known: Part): History {
  const lastMs = known.keys().reduce((max, decision) => Math.max(max, decision.inFlight.toMs), -Infinity);
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

/**
 * Returns the least count up to `max` for which `holds` is true. If `holds` is true for a count, it must be true for
 * every larger one.
 */
function smallestCount(max: number, holds: (count: number) => boolean): number {
  let low = 0;
  let high = max;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

/**
 * Leaves out the chunks without which the rest still proves the breach: first large chunks, then ever smaller ones.
 * Tries at most `max` chunks.
 */
function dropChunks(all: Part, max: number, provenBy: (known: Part) => boolean): Part {
  if (max === 0) return all;
  let known = [...all].flatMap(([decision, count]) => Array<Decision>(count).fill(decision));
  let trials = max;
  for (let size = Math.ceil(known.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < known.length && trials > 0; trials -= 1) {
      const fewer = known.toSpliced(at, size);
      if (provenBy(partOf(fewer))) known = fewer;
      else at += size;
    }
  }
  return partOf(known);
}

/** Counts how often each decision is named. */
function partOf(named: readonly Decision[]): Part {
  const part = new Map<Decision, number>();
  for (const decision of named) part.set(decision, (part.get(decision) ?? 0) + 1);
  return part;
}
