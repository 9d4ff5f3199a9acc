import type { Exchange } from "../../evidence/exchange.ts";
import { isWithinWindow } from "../../rules/limits/header-rules.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import { isKeyAccepted, judgeTimeLeft } from "../../rules/limits/reset-headers.ts";
import { breach, type Finding, holds, type Observation, observed, unproven } from "../../run/judge/finding.ts";
import { needsMoreTime } from "../../run/skip-reason.ts";
import { type AllExchanges, endpointOf } from "../shared/all-exchanges.ts";
import {
  elapsedSeconds,
  fallBetween,
  mayOthersCountBetween,
  sortAndMarkOverlaps,
  isSameWindow,
  type SerialRun,
  findSerialRuns,
} from "../shared/compare-samples.ts";
import { countedReadIn } from "../limits/key-history.ts";
import { isSuccess } from "../shared/response.ts";
import type { AllSamples, KeySamples, SamplesAndExchanges } from "./probes.ts";

/** Judges HDR-12 for every key: `Remaining` falls by 1 with each invoke, and with each counted GET request. */
export function judgeFalls(all: AllSamples): Finding<never> {
  const { keys, hasClock } = all;
  let proven = 0;
  for (const key of keys) {
    const stuck = describeConstantWindow(key);
    if (stuck !== null) return breach("`Remaining` falls by 1 with each request", `${stuck} (key ${key.key})`);
    for (const run of findSerialRuns(key.samples, all, countedReadIn(all))) {
      const mismatch = describeFall(run, key, hasClock);
      if (mismatch !== null) return breach("`Remaining` falls by 1 with each request", `${mismatch} (key ${key.key})`);
      proven += pairsOf(run).filter(([a, b]) => fallBetween(a, b)?.fell === 1).length;
    }
  }
  return proven > 0
    ? holds()
    : unproven("no two requests were admitted one right after the other within one window that showed `Remaining`");
}

const pairsOf = (run: SerialRun): (readonly [Sample, Sample])[] =>
  run.flatMap((sample, index) => {
    const previous = run[index - 1];
    if (previous === undefined) return [];
    const isAtEnd =
      previous.remaining === sample.remaining && (sample.remaining === 0 || sample.remaining === sample.limit);
    return isAtEnd ? [] : [[previous, sample] as const];
  });

function describeFall(
  run: SerialRun,
  { isFresh, samples, unjudged = [] }: KeySamples,
  hasClock: boolean,
): string | null {
  const pairs = pairsOf(run);
  const jump = pairs.find(([a, b]) => (fallBetween(a, b)?.fell ?? 1) > 1);
  if (jump !== undefined) return `from ${jump[0].remaining} to ${jump[1].remaining} (${jump[0].id}, ${jump[1].id})`;
  const [first, last] = [pairs[0]?.[0], pairs.at(-1)?.[1]];
  const whole = first === undefined || last === undefined ? null : fallBetween(first, last);
  if (whole === null || first === undefined || last === undefined) return null;
  // Requests from before the run can leave a rolling window during the sequence. Each raises `Remaining` by 1, which
  // hides one fall. Up to half of the falls may be hidden.
  const maxHiddenFalls = isFresh ? 0 : Math.floor(pairs.length / 2);
  const maxReturned =
    whole.mayRegain + maxHiddenFalls + requestsLeaving(first, last, [...samples, ...unjudged], hasClock).length;
  if (whole.fell >= pairs.length - maxReturned) return null;
  return `from ${first.remaining} to ${last.remaining} over ${pairs.length + 1} requests (${first.id} to ${last.id})`;
}

const windowsSeconds = [60, 3600] as const;
/** A rolling window may stop counting a request this much early or late, e.g. because the limiter rounds times. */
const toleranceSeconds = 0.5;

/**
 * Returns the requests, sent before `first`, that a rolling window can stop counting in the time from `first` to
 * `last`.
 */
export const requestsLeaving = (first: Sample, last: Sample, samples: readonly Sample[], hasClock: boolean): Sample[] =>
  samples.filter(
    (each) =>
      each.kind !== "health" &&
      each.sentMs < first.sentMs &&
      windowsSeconds.some(
        (seconds) =>
          elapsedSeconds(each, first, hasClock).min < seconds + toleranceSeconds &&
          elapsedSeconds(each, last, hasClock).max > seconds - toleranceSeconds,
      ),
  );

function describeConstantWindow({ samples: judged, unjudged = [] }: KeySamples): string | null {
  const samples = [...judged, ...unjudged];
  // Skips refusals with a `keyState`, e.g. `hour used up`. Their headers can report the hour instead of the minute.
  for (const refusal of judged.filter(({ status, keyState }) => status === 429 && keyState === undefined)) {
    // Skips a refusal that overlaps another request, because that request may hold the last concurrency slot.
    if (samples.some((each) => each !== refusal && each.sentMs < refusal.endMs && each.endMs > refusal.sentMs))
      continue;
    const earlier = samples.filter(
      (each) =>
        each.kind !== "health" && isAdmitted(each) && each.endMs <= refusal.sentMs && isSameWindow(each, refusal),
    );
    const unchanged = earlier.filter(({ remaining, limit }) => remaining === limit).length;
    if (unchanged >= 3 && earlier.length < unchanged + (refusal.limit ?? 0) - 1)
      return `${unchanged} of ${earlier.length} admitted requests of a window report the whole limit of ${refusal.limit}, and the next is refused`;
  }
  return null;
}

/** Judges HDR-15: `Reset-After` is the time left until the window is reset. */
export function judgeResetAfter({ keys, hasClock }: AllSamples): Finding<never> {
  let proven = 0;
  for (const { key, limits, samples } of keys) {
    const usable = samples
      .filter(
        (each) =>
          isKeyAccepted(each) && each.limit !== null && each.resetAfter !== null && isWithinWindow(each, limits),
      )
      .toSorted((a, b) => a.sentMs - b.sentMs);
    const early = describeEarlyReset(usable);
    if (early !== null)
      return breach("`Reset-After` is the time left until the window is reset", `${early} (key ${key})`);
    const pairs = judgeTimeLeft(usable, limits, (from, to) => elapsedSeconds(from, to, hasClock).min);
    for (const { first, last, mismatch } of pairs)
      if (mismatch !== null)
        return breach(mismatch.expected, `${mismatch.actual} (${first.id}, ${last.id}, key ${key})`);
    proven += pairs.length;
  }
  return proven > 0 ? holds() : unproven("no two responses of one window are some seconds apart", needsMoreTime);
}

function describeEarlyReset(samples: readonly Sample[]): string | null {
  for (const [index, now] of samples.entries()) {
    const before = samples[index - 1];
    if (before === undefined || now.kind === "health" || !isAdmitted(now) || now.limit !== before.limit) continue;
    const limit = now.limit ?? 0;
    const isWhole = (now.remaining ?? 0) >= limit - 1 && (before.remaining ?? limit) <= limit - 3;
    if (!isWhole || now.sentMs < before.headMs) continue;
    const { max: maxSeconds } = elapsedSeconds(before, now, true);
    if (maxSeconds < (before.resetAfter ?? 0) - 2)
      return `${before.resetAfter} s with ${before.remaining} remaining; at most ${Math.round(maxSeconds)} s later ${now.remaining} of ${limit} (${before.id}, ${now.id})`;
  }
  return null;
}

/** Observes, for each error status except 401, 403 and 429, whether responses with it lower `Remaining` (LIM-26). */
export function observeWhetherErrorsCount({ keys }: AllSamples): Observation {
  const counted = new Map<number, boolean>();
  for (const { samples } of keys) {
    const sorted = samples.toSorted((a, b) => a.sentMs - b.sentMs);
    sorted.forEach((before, index) => {
      const errors = errorsAfter(sorted, index);
      const after = sorted[index + errors.length + 1];
      const [first] = errors;
      if (first === undefined || after === undefined || !isPlainSample(before) || !isPlainSample(after)) return;
      if ([...errors, after].some((each, at) => each.sentMs < (errors[at - 1] ?? before).endMs)) return;
      const fall = fallBetween(before, after);
      if (fall?.fell === 1) counted.set(first.status ?? 0, false);
      else if (fall?.fell === errors.length + 1) counted.set(first.status ?? 0, true);
    });
  }
  if (counted.size === 0) return unproven("no error stood between two admitted requests of one window");
  const descriptions = [...counted]
    .toSorted(([a], [b]) => a - b)
    .map(([status, counts]) => `${status} ${counts ? "counts" : "does not count"}`);
  return observed(`${descriptions.join(", ")} against the allowance`);
}

const isPlainSample = (sample: Sample): boolean =>
  sample.kind !== "stream" && sample.kind !== "health" && isAdmitted(sample);

function errorsAfter(sorted: readonly Sample[], index: number): Sample[] {
  const errors: Sample[] = [];
  for (let at = index + 1; ; at++) {
    const sample = sorted[at];
    const status = sample?.status ?? 0;
    if (sample === undefined || status < 400 || [401, 403, 429].includes(status) || sample.kind === "health") break;
    if (errors[0] !== undefined && errors[0].status !== status) break;
    errors.push(sample);
  }
  return errors;
}

/**
 * A target is allowed to count a GET request only after its response. Then `Remaining` falls by 2 at the next request.
 */
const maxFallAfterRead = 2;
/** Time after sending a batch during which the target can still count the batch's items. */
const batchCountingMs = 10_000;

export function judgeRemainingAfterReads({ samples, all }: SamplesAndExchanges): Finding<never> {
  const reads = new Set(all.exchanges.filter((each) => isRead(each, all)).map(({ id }) => id));
  const batches = all.exchanges.filter((each) => endpointOf(each, all) === "batch");
  let judged = 0;
  for (const key of samples.keys)
    for (const [read, next] of readPairs(key, reads)) {
      const fall = mayOthersCountBetween(samples, read, next) ? null : fallBetween(read, next);
      if (fall === null) continue;
      judged += 1;
      const own = batches.filter((each) => each.key === key.key && isSuccess(each));
      if (fall.fell > maxFallAfterRead + pendingEntries(own, next.sentMs))
        return breach(
          "`Remaining` falls by 1 with each request",
          `from ${read.remaining} to ${next.remaining} with one request after a read (key ${key.key})`,
          ...all.exchanges.filter(({ id }) => id === read.id || id === next.id),
        );
    }
  return judged > 0 ? holds() : unproven("no read was followed by another request of its window");
}

/** Returns the number of items in recent batches. The limiter is possibly still counting these items. */
const pendingEntries = (batches: readonly Exchange[], atMs: number): number =>
  batches
    .filter(({ sentMs }) => sentMs <= atMs && sentMs > atMs - batchCountingMs)
    .reduce(
      (sum, { request: { body } }) => sum + (body.kind === "text" ? body.text.split('"query"').length - 1 : 0),
      0,
    );

const isRead = (each: Exchange, all: AllExchanges): boolean => {
  const endpoint = endpointOf(each, all);
  return endpoint === "list" || endpoint === "usage" || endpoint === "keyUsage";
};

function readPairs({ samples }: KeySamples, reads: ReadonlySet<string>): (readonly [Sample, Sample])[] {
  const placed = sortAndMarkOverlaps(samples.filter(({ kind }) => kind !== "health"));
  return placed.flatMap(({ sample: read, isAfterAll, isBeforeNext }, index) => {
    const after = placed[index + 1];
    if (after === undefined || !isAfterAll || !reads.has(read.id) || after.sample.kind === "stream") return [];
    const isAlone = isBeforeNext && after.isBeforeNext;
    return isAlone && isAdmitted(read) && isAdmitted(after.sample) ? [[read, after.sample] as const] : [];
  });
}
