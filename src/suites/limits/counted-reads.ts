import { isAdmitted, isAgentCall, type Sample } from "../../rules/limits/sample.ts";
import { fallBetween, sortAndMarkOverlaps } from "../shared/compare-samples.ts";

/**
 * Whether `Remaining` fell by exactly one between two responses. `null` if the responses do not describe the same
 * window.
 */
const fallsByOne = (from: Sample | undefined, to: Sample | undefined): boolean | null => {
  const fall = from === undefined || to === undefined ? null : fallBetween(from, to);
  return fall === null ? null : fall.fell === 1;
};

/**
 * Returns the ids of the GET requests that the limiter certainly counted. `Remaining` must fall by one from the request
 * before to the GET, and by one from the GET to the next request. Both falls are needed, because a response may report
 * `Remaining` before or after its own request is counted.
 *
 * If one list request certainly counts, and none seems free, all list requests are returned.
 * @param samples all requests of the run with one key
 */
export function idsOfCountedReads(samples: readonly Sample[]): string[] {
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
