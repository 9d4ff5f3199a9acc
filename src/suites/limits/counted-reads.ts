import { isAdmitted, isAgentCall, type Sample } from "../../rules/limits/sample.ts";
import { fallBetween, inOrder } from "../shared/compare-samples.ts";

/** Returns whether a request fell in `Remaining` by exactly one from the response before. `null` if they cannot be compared. */
const fallsByOne = (from: Sample | undefined, to: Sample | undefined): boolean | null => {
  const fall = from === undefined || to === undefined ? null : fallBetween(from, to);
  return fall === null ? null : fall.fell === 1;
};

/**
 * Returns the ids of reads that were observed to count, as an invoke does. `Remaining` falls by one with such a read, and by one with the
 * next request, so that it does not matter whether a server counts a request before or after it writes the header. A list counts if another
 * one does, and none was free.
 * @param samples all requests of the run on one key
 */
export function observedCountedReads(samples: readonly Sample[]): string[] {
  const counting = inOrder(samples.filter(({ kind }) => kind !== "health"));
  const reads = counting.flatMap(({ sample, isAfterAll, isBeforeNext }, index) => {
    if (!isAdmitted(sample) || isAgentCall(sample)) return [];
    const isAlone = isAfterAll && isBeforeNext;
    const [before, after] = [counting[index - 1]?.sample, counting[index + 1]?.sample];
    const falls = isAlone ? [fallsByOne(before, sample), fallsByOne(sample, after)] : [null, null];
    return [{ sample, isCounted: falls.every(Boolean), mayBeFree: falls.includes(false) }];
  });
  const counted = reads.filter(({ isCounted }) => isCounted).map(({ sample }) => sample);
  const isListCounted =
    counted.some(({ kind }) => kind === "list") &&
    reads.every(({ sample, mayBeFree }) => sample.kind !== "list" || !mayBeFree);
  const lists = isListCounted ? reads.filter(({ sample }) => sample.kind === "list").map(({ sample }) => sample) : [];
  return [...new Set([...counted, ...lists].map(({ id }) => id))];
}
