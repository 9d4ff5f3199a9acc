import { isAdmitted, isAgentCall, type Sample } from "../../rules/limits/sample.ts";
import { fallBetween, sortAndMarkOverlaps } from "../shared/compare-samples.ts";

/**
 * Returns whether `Remaining` fell by exactly one from a response to the next. `null` if the two cannot be compared.
 */
const fallsByOne = (from: Sample | undefined, to: Sample | undefined): boolean | null => {
  const fall = from === undefined || to === undefined ? null : fallBetween(from, to);
  return fall === null ? null : fall.fell === 1;
};

/**
 * Returns the ids of the GET requests that were observed to count against the allowance, as an invoke does. `Remaining`
 * must fall by one with the GET request and by one with the next request. A server may then count a request before or
 * after it writes the header.
 *
 * All list requests count if one of them was observed to, and none seemed free.
 * @param samples all requests of the run with one key
 */
export function observedCountedReads(samples: readonly Sample[]): string[] {
  const counting = sortAndMarkOverlaps(samples.filter(({ kind }) => kind !== "health"));
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
