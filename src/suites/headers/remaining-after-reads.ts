import type { Exchange } from "../../evidence/exchange.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { endpointOf, type AllExchanges } from "../shared/all-exchanges.ts";
import { isSuccess } from "../shared/response.ts";
import type { AllSamples, KeySamples } from "./probes.ts";
import { fallBetween } from "../shared/compare-samples.ts";

/** The read itself, if `Remaining` was computed before it was counted, and the request after it. */
const mostAfterReading = 2;
/** How long after a batch its entries may still be counted one by one. */
const batchMs = 10_000;

/**
 * Judges that `Remaining` of a GET agrees with that of the next request on the key. Both requests were sent alone, so
 * `Remaining` may fall by no more than these two.
 */
export function judgeRemainingAfterReads({ keys, keylessMs }: AllSamples, all: AllExchanges): Finding<never> {
  const readings = new Set(all.exchanges.filter((each) => isReading(each, all)).map(({ id }) => id));
  const batches = all.exchanges.filter((each) => endpointOf(each, all) === "batch");
  let judged = 0;
  for (const key of keys)
    for (const [reading, next] of pairsIn(key, readings)) {
      const isBetween = keylessMs.some((ms) => ms >= reading.sentMs && ms <= next.sentMs);
      const fall = isBetween ? null : fallBetween(reading, next);
      if (fall === null) continue;
      judged += 1;
      const own = batches.filter((each) => each.key === key.key && isSuccess(each));
      if (fall.fell > mostAfterReading + entriesBy(own, next.sentMs))
        return breach(
          "`Remaining` falls by 1 with each request",
          `from ${reading.remaining} to ${next.remaining} with one request after a reading (key ${key.key})`,
          ...all.exchanges.filter(({ id }) => id === reading.id || id === next.id),
        );
    }
  return judged > 0 ? holds() : unproven("no reading was followed by another request of its window");
}

/** Number of batch entries that may still be processed at a time. */
const entriesBy = (batches: readonly Exchange[], atMs: number): number =>
  batches
    .filter(({ sentMs }) => sentMs <= atMs && sentMs > atMs - batchMs)
    .reduce(
      (sum, { request: { body } }) => sum + (body.kind === "text" ? body.text.split('"query"').length - 1 : 0),
      0,
    );

const isReading = (each: Exchange, all: AllExchanges): boolean => {
  const endpoint = endpointOf(each, all);
  return endpoint === "list" || endpoint === "usage" || endpoint === "keyUsage";
};

/** Pairs of a read and the next request on the key, if no other request overlaps either. */
function pairsIn({ samples }: KeySamples, readings: ReadonlySet<string>): (readonly [Sample, Sample])[] {
  const sorted = samples.filter(({ kind }) => kind !== "health").toSorted((a, b) => a.sentMs - b.sentMs);
  const pairs: (readonly [Sample, Sample])[] = [];
  let endedMs = -Infinity;
  for (const [index, reading] of sorted.entries()) {
    const [next, afterNext] = [sorted[index + 1], sorted[index + 2]];
    const wasAlone = endedMs <= reading.sentMs;
    endedMs = Math.max(endedMs, reading.endMs);
    if (next === undefined || !wasAlone || !readings.has(reading.id) || next.kind === "stream") continue;
    const isAlone = reading.endMs <= next.sentMs && (afterNext?.sentMs ?? Infinity) >= next.endMs;
    if (isAlone && isAdmitted(reading) && isAdmitted(next)) pairs.push([reading, next]);
  }
  return pairs;
}
