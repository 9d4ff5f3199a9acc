import { memoizeByPair } from "../../base/memoize.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { KeyHistory } from "../../rules/limits/key-history.ts";
import { isAdmitted, type Sample, sampleOf } from "../../rules/limits/sample.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { probe } from "../../run/probe.ts";
import { isAddedAfter, type RequirementSet } from "../../spec/clause.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import type { EvidenceOf } from "../../run/judge/check.ts";
import { ensureAllowance, helloBody, unpaced } from "../limits/exhaust.ts";
import { type CountedRead, countedReadOf } from "../limits/key-history.ts";
import { fallBetween, type OtherRequests } from "../shared/compare-samples.ts";

/** A key's requests between two outages. `limits` come from the target file, not from the headers under test. */
export interface KeySamples extends KeyHistory<Sample, TierLimits | null> {
  readonly key: string;
  /**
   * Samples of probes from newer requirement sets. Checks do not judge these samples, but their requests change
   * `Remaining`.
   */
  readonly unjudged?: readonly Sample[];
}

export interface AllSamples extends OtherRequests {
  readonly keys: readonly KeySamples[];
  readonly hasClock: boolean;
  readonly countedRead?: CountedRead | null;
  /** Whether the rate limit counts `GET /usage`. Newer evidence has `countedRead` instead. */
  readonly readsCount?: boolean;
  readonly startedUnixMs: number;
  /** Real time that all advances of the test clock took together. Older evidence lacks this field. */
  readonly advancingMs?: number;
}

/** Checks judge only the first `maxFirst` and the last `maxLast` requests of a key. */
const maxFirst = 10_000;
const maxLast = 5_000;

/**
 * Moves samples of probes newer than `requirements` to `unjudged`. Checks still know that these requests lower
 * `Remaining`.
 */
const samplesOfSet = memoizeByPair((all: AllSamples, requirements: RequirementSet): AllSamples => {
  const isLater = ({ since }: Sample): boolean => isAddedAfter(requirements, since);
  const later = all.keys.flatMap(({ samples }) => samples.filter(isLater));
  if (later.length === 0) return all;
  return {
    ...all,
    keys: all.keys.map((key) => ({
      ...key,
      samples: key.samples.filter((each) => !isLater(each)),
      unjudged: key.samples.filter(isLater),
    })),
    later,
  };
});

export const allSamples = probe(
  "all rate-limit headers of the run are looked over",
  { requests: 0, stage: "review", narrow: samplesOfSet },
  async ({ recorder, target, time, discovery }): Promise<AllSamples> => ({
    keys: Object.values(target.keys).flatMap((key) =>
      recorder.sampleSeriesOf(key.name).map((samples) => ({
        key: key.name,
        // A detected tier comes from the headers under test. After a key has expired, its headers may describe a limit
        // on the client's address.
        limits: key.isTierDetected || key.expired || key.expiresInSeconds !== null ? null : limitsOf(key, target),
        isFresh: key.fresh,
        samples: firstAndLastSamples(samples),
      })),
    ),
    keylessMs: recorder.exchangesOutsideOutages().flatMap(({ key, sentMs }) => (key === null ? [sentMs] : [])),
    hasClock: target.clock !== null,
    countedRead: countedReadOf(discovery),
    startedUnixMs: Date.now() - time.now(),
    advancingMs: time.advancingMs(),
  }),
);

export const samplesAndExchanges = { samples: allSamples, all: allExchanges };
export type SamplesAndExchanges = EvidenceOf<typeof samplesAndExchanges>;

/**
 * Returns the `first` earliest and the `last` latest samples by `sentMs`. Leaves out samples that overlap an omitted
 * sample in time.
 */
export function firstAndLastSamples(samples: readonly Sample[], first = maxFirst, last = maxLast): readonly Sample[] {
  if (samples.length <= first + last) return samples;
  const sorted = samples.toSorted((a, b) => a.sentMs - b.sentMs);
  const cutMs = sorted[first]?.sentMs ?? Infinity;
  const omitted = sorted.slice(first, -last);
  const endedMs = omitted.reduce((latest, { endMs }) => Math.max(latest, endMs), -Infinity);
  return [
    ...sorted.slice(0, first).filter(({ endMs }) => endMs <= cutMs),
    ...sorted.slice(-last).filter(({ sentMs }) => sentMs >= endedMs),
  ];
}

const maxConcurrent = 8;
const maxRounds = 3;
/** The smallest limits in the document, assumed for a key whose tier is unknown. */
const smallestTier = { perMinute: 10, concurrent: 2 } as const;

interface ConcurrentRound {
  readonly before: Exchange;
  readonly atOnce: readonly Exchange[];
  readonly after: Exchange;
  /**
   * Number of earlier requests that can leave a rolling window between `before` and `after`. Each request that leaves
   * raises `Remaining` by 1.
   */
  readonly mayReturn: number;
}

export const concurrentRounds = probe(
  "requests are sent at once, between two others",
  { needs: ["agents.answering"], requests: 4, stage: "exclusive" },
  async ({ client, given, target, time, recorder }) => {
    const { perMinute, concurrent } = limitsOf(client.key, target) ?? smallestTier;
    const atOnce = Math.min(maxConcurrent, Math.max(2, Math.floor(concurrent / 2)));
    const invoke = (): Promise<Exchange> => client.invoke(given["agents.answering"], helloBody, unpaced);
    const rounds: ConcurrentRound[] = [];
    while (rounds.length < maxRounds && (rounds.at(-1) === undefined || hasUnexpectedFall(rounds.at(-1)))) {
      await ensureAllowance(client, atOnce + 2, { time, recorder, perMinute });
      const before = await invoke();
      const sent = await Promise.all(Array.from({ length: atOnce }, invoke));
      const after = await invoke();
      const mayReturn = countReturnable(
        recorder.samplesOf(client.key.name),
        sampleOf(before),
        sampleOf(after),
        time.canAdvance,
      );
      rounds.push({ before, atOnce: sent, after, mayReturn });
    }
    return { rounds };
  },
);

/** Assumed rolling windows. A request may leave a window up to `blurSeconds` early or late. */
const rollingWindows = [
  { seconds: 60, blurSeconds: 10 },
  { seconds: 3600, blurSeconds: 60 },
] as const;

/** Returns how many requests can have left a rolling window between the responses `from` and `to`. */
export function countReturnable(samples: readonly Sample[], from: Sample, to: Sample, canMove: boolean): number {
  const mayLeave = (sample: Sample): boolean =>
    rollingWindows.some(({ seconds, blurSeconds }) => {
      const latest = (to.headMs - sample.sentMs + to.headClockMs - sample.sentClockMs) / 1000;
      const advancedMs = from.sentClockMs - sample.endClockMs;
      const earliest = (canMove ? advancedMs : from.sentMs - sample.endMs) / 1000;
      return earliest <= seconds + blurSeconds && latest >= seconds - blurSeconds;
    });
  return samples.filter((each) => each.kind !== "health" && each.status !== null && mayLeave(each)).length;
}

export function fallOfRemainingIn({ before, atOnce, after }: ConcurrentRound) {
  const samples = [before, ...atOnce, after].map((each) => sampleOf(each));
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || !samples.every(isAdmitted)) return null;
  const falls = samples.map((each) => fallBetween(first, each));
  const whole = falls.at(-1) ?? null;
  if (whole === null || falls.includes(null)) return null;
  const remainingAtOnce = samples.slice(1, -1).map(({ remaining }) => remaining ?? 0);
  return { ...whole, expected: atOnce.length + 1, remainingAtOnce, from: first.remaining ?? 0 };
}

export const hasImpossibleFall = (round: ConcurrentRound): boolean => isFallUnexpected(round, round.mayReturn);

/** Whether `Remaining` fell by an unexpected amount, if no earlier request left a rolling window meanwhile. */
export const hasUnexpectedFall = (round: ConcurrentRound | undefined): boolean =>
  round !== undefined && isFallUnexpected(round, 0);

function isFallUnexpected(round: ConcurrentRound, mayReturn: number): boolean {
  const fall = fallOfRemainingIn(round);
  if (fall === null) return false;
  const { fell, expected, remainingAtOnce, from } = fall;
  const mayRegain = fall.mayRegain + mayReturn;
  const fellTooLittle = fell < expected - mayRegain;
  // Skips a `Remaining` of 0, which stays at 0 while the server admits requests of the burst.
  const fellTooFar = fell > expected || remainingAtOnce.some((value) => value > 0 && from - value > expected - 1);
  return fellTooLittle || fellTooFar || remainingAtOnce.some((value) => value - from > mayRegain);
}
