import { isWithinWindow } from "../../rules/limits/header-rules.ts";
import { isKeyAccepted, judgeTimeLeft } from "../../rules/limits/time-left.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import { breach, type Finding, holds, type Observation, observed, unproven } from "../../run/judge/finding.ts";
import { moreTime } from "../../run/skip-reason.ts";
import type { AllSamples, KeySamples } from "./probes.ts";
import { fallBetween, isSameWindow, elapsedSeconds, type SerialRun, serialRuns } from "../shared/compare-samples.ts";

/** Judges how `Remaining` falls from one invoke to the next, for every key (HDR-12). */
export function judgeFalls({ keys, keylessMs, readsCount, hasClock }: AllSamples): Finding<never> {
  const between = (fromMs: number, toMs: number): boolean => keylessMs.some((ms) => ms >= fromMs && ms <= toMs);
  let proven = 0;
  for (const key of keys) {
    const stuck = stuckWindow(key);
    if (stuck !== null) return breach("`Remaining` falls by 1 with each request", `${stuck} (key ${key.key})`);
    for (const run of serialRuns(key.samples, between, readsCount)) {
      const wrong = wrongFall(run, key, hasClock);
      if (wrong !== null) return breach("`Remaining` falls by 1 with each request", `${wrong} (key ${key.key})`);
      proven += pairsOf(run).filter(([a, b]) => fallBetween(a, b)?.fell === 1).length;
    }
  }
  return proven > 0
    ? holds()
    : unproven("no two requests were admitted one right after the other within one window that showed `Remaining`");
}

/** Consecutive samples of a run. Skips a pair that stays at 0 or at the limit: while a burst is used up, the value may stay there. */
const pairsOf = (run: SerialRun): (readonly [Sample, Sample])[] =>
  run.flatMap((sample, index) => {
    const previous = run[index - 1];
    if (previous === undefined) return [];
    const isAtEnd =
      previous.remaining === sample.remaining && (sample.remaining === 0 || sample.remaining === sample.limit);
    return isAtEnd ? [] : [[previous, sample] as const];
  });

function wrongFall(run: SerialRun, { isFresh, samples }: KeySamples, hasClock: boolean): string | null {
  const pairs = pairsOf(run);
  const jump = pairs.find(([a, b]) => (fallBetween(a, b)?.fell ?? 1) > 1);
  if (jump !== undefined) return `from ${jump[0].remaining} to ${jump[1].remaining} (${jump[0].id}, ${jump[1].id})`;
  const [first, last] = [pairs[0]?.[0], pairs.at(-1)?.[1]];
  const whole = first === undefined || last === undefined ? null : fallBetween(first, last);
  if (whole === null || first === undefined || last === undefined) return null;
  // Requests that the key sent before the run may leave a rolling window at any time.
  const mayExpire = isFresh ? 0 : Math.floor(pairs.length / 2);
  const mostBack = whole.mayRegain + mayExpire + leavingBetween(first, last, samples, hasClock);
  if (whole.fell >= pairs.length - mostBack) return null;
  return `from ${first.remaining} to ${last.remaining} over ${pairs.length + 1} requests (${first.id} to ${last.id})`;
}

const windowsSeconds = [60, 3600] as const;
/** How far the clock of a limiter may be off. */
const blurSeconds = 0.5;

/** Number of earlier requests that may leave a rolling window between two responses, because they are as old as the window is long. */
const leavingBetween = (first: Sample, last: Sample, samples: readonly Sample[], hasClock: boolean): number =>
  samples.filter(
    (each) =>
      each.kind !== "health" &&
      each.sentMs < first.sentMs &&
      windowsSeconds.some(
        (seconds) =>
          elapsedSeconds(each, first, hasClock).min < seconds + blurSeconds &&
          elapsedSeconds(each, last, hasClock).max > seconds - blurSeconds,
      ),
  ).length;

/** Describes a window that still reports its whole limit after many admitted requests and then refuses one; `null` if there is none. */
function stuckWindow({ samples }: KeySamples): string | null {
  for (const refusal of samples.filter(({ status }) => status === 429)) {
    // A request in flight may hold the last slot, which would explain the refusal.
    if (samples.some((each) => each !== refusal && each.sentMs < refusal.endMs && each.endMs > refusal.sentMs))
      continue;
    const earlier = samples.filter(
      (each) =>
        each.kind !== "health" && isAdmitted(each) && each.endMs <= refusal.sentMs && isSameWindow(each, refusal),
    );
    const whole = earlier.filter(({ remaining, limit }) => remaining === limit).length;
    if (whole >= 3 && earlier.length < whole + (refusal.limit ?? 0) - 1)
      return `${whole} of ${earlier.length} admitted requests of a window show the whole limit of ${refusal.limit}, and the next is refused`;
  }
  return null;
}

/** Judges that `Reset-After` is the time left until the window is reset (HDR-15). */
export function judgeResetAfter({ keys, hasClock }: AllSamples): Finding<never> {
  let proven = 0;
  for (const { key, limits, samples } of keys) {
    const usable = samples
      .filter(
        (each) =>
          isKeyAccepted(each) && each.limit !== null && each.resetAfter !== null && isWithinWindow(each, limits),
      )
      .toSorted((a, b) => a.sentMs - b.sentMs);
    const early = fullTooEarly(usable);
    if (early !== null)
      return breach("`Reset-After` is the time left until the window is reset", `${early} (key ${key})`);
    const told = judgeTimeLeft(usable, limits, (from, to) => elapsedSeconds(from, to, hasClock).min);
    for (const { first, last, mismatch } of told)
      if (mismatch !== null)
        return breach(mismatch.expected, `${mismatch.actual} (${first.id}, ${last.id}, key ${key})`);
    proven += told.length;
  }
  return proven > 0 ? holds() : unproven("no two answers of one window lay some seconds apart", moreTime);
}

/** Describes a window that was full again before its reported reset; `null` if there is none. */
function fullTooEarly(samples: readonly Sample[]): string | null {
  for (const [index, now] of samples.entries()) {
    const before = samples[index - 1];
    if (before === undefined || now.kind === "health" || !isAdmitted(now) || now.limit !== before.limit) continue;
    const limit = now.limit ?? 0;
    const isWhole = (now.remaining ?? 0) >= limit - 1 && (before.remaining ?? limit) <= limit - 3;
    if (!isWhole || now.sentMs < before.headMs) continue;
    const { max: most } = elapsedSeconds(before, now, true);
    if (most < (before.resetAfter ?? 0) - 2)
      return `${before.resetAfter} s with ${before.remaining} remaining; at most ${Math.round(most)} s later ${now.remaining} of ${limit} (${before.id}, ${now.id})`;
  }
  return null;
}

/** Observes whether errors count against the allowance, by the fall of `Remaining` between two invokes with errors in between. */
export function observeErrors({ keys }: AllSamples): Observation {
  const counted = new Map<number, boolean>();
  for (const { samples } of keys) {
    const sorted = samples.toSorted((a, b) => a.sentMs - b.sentMs);
    sorted.forEach((before, index) => {
      const errors = errorsAfter(sorted, index);
      const after = sorted[index + errors.length + 1];
      const [first] = errors;
      if (first === undefined || after === undefined || !isPlain(before) || !isPlain(after)) return;
      if ([...errors, after].some((each, at) => each.sentMs < (errors[at - 1] ?? before).endMs)) return;
      const fall = fallBetween(before, after);
      if (fall?.fell === 1) counted.set(first.status ?? 0, false);
      else if (fall?.fell === errors.length + 1) counted.set(first.status ?? 0, true);
    });
  }
  if (counted.size === 0) return unproven("no error stood between two admitted requests of one window");
  const words = [...counted]
    .toSorted(([a], [b]) => a - b)
    .map(([status, counts]) => `${status} ${counts ? "counts" : "does not count"}`);
  return observed(`${words.join(", ")} against the allowance`);
}

const isPlain = (sample: Sample): boolean => sample.kind !== "stream" && sample.kind !== "health" && isAdmitted(sample);

/** Errors of one status that directly follow a sample. */
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
