import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { probe } from "../../run/probe.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { doReadsCount } from "../limits/key-history.ts";
import { ensureAllowance, hello } from "../limits/exhaust.ts";
import { fallBetween, sampleFrom } from "../shared/compare-samples.ts";

/** What the limiter of one key showed during the run. */
export interface KeySamples {
  readonly key: string;
  /** Numbers of the key's tier, where somebody said the tier; what the headers themselves showed is no proof of them. */
  readonly limits: TierLimits | null;
  readonly isFresh: boolean;
  readonly samples: readonly Sample[];
}

/** What the limiters of all keys showed. */
export interface AllSamples {
  readonly keys: readonly KeySamples[];
  /** Instants at which something was sent without a key of the target, in milliseconds since the start of the run. */
  readonly keylessMs: readonly number[];
  readonly hasClock: boolean;
  /** Reading usage was seen to draw on the allowance. */
  readonly readsCount: boolean;
  /** The harness's own clock at the start of the run, in Unix milliseconds. */
  readonly startedUnixMs: number;
}

/** Of a key that was used by the ten thousand, so many answers are looked at from the start of the run, and from its end. */
const mostFirst = 10_000;
const mostLast = 5_000;

export const allSamples = probe(
  "all rate-limit headers of the run are looked over",
  { requests: 0, lane: "afterwards" },
  async ({ recorder, target, time, discovery }): Promise<AllSamples> => ({
    keys: Object.values(target.keys).map((key) => ({
      key: key.name,
      // A key whose life is over has no allowance: what lets it in may speak of the address.
      limits: key.isTierDetected || key.expired || key.expiresInSeconds !== null ? null : limitsOf(key, target),
      isFresh: key.fresh,
      samples: firstAndLastSamples(recorder.samplesOf(key.name)),
    })),
    keylessMs: recorder.exchanges().flatMap(({ key, sentMs }) => (key === null ? [sentMs] : [])),
    hasClock: target.clock !== null,
    readsCount: doReadsCount(discovery),
    startedUnixMs: Date.now() - time.now(),
  }),
);

/** The first and the last, in the order of sending. Where a cut parts what was in flight at once, all of that is left out. */
export function firstAndLastSamples(samples: readonly Sample[], first = mostFirst, last = mostLast): readonly Sample[] {
  if (samples.length <= first + last) return samples;
  const sorted = samples.toSorted((a, b) => a.sentMs - b.sentMs);
  const cutMs = sorted[first]?.sentMs ?? Infinity;
  const left = sorted.slice(first, -last);
  const quietMs = left.reduce((latest, { endMs }) => Math.max(latest, endMs), -Infinity);
  return [
    ...sorted.slice(0, first).filter(({ endMs }) => endMs <= cutMs),
    ...sorted.slice(-last).filter(({ sentMs }) => sentMs >= quietMs),
  ];
}

const unpaced = { unpaced: true } as const;
const mostAtOnce = 8;
const mostRounds = 3;
/** Where nobody knows the tier: the smallest that the document publishes. */
const least = { perMinute: 10, concurrent: 2 } as const;

/** Invokes sent at once, between one that came before and one that came after. */
export interface Round {
  readonly before: Exchange;
  readonly atOnce: readonly Exchange[];
  readonly after: Exchange;
  /** How many earlier requests of the key a rolling window may have given back meanwhile. */
  readonly mayReturn: number;
}

/** Rounds of invokes at once: one, and more where the allowance fell by too little, because a refill may be the reason. */
export const concurrentRounds = probe(
  "requests are sent at once, between two others",
  { needs: ["agents.answering"], requests: 4, lane: "alone" },
  async ({ client, given, target, time, recorder }) => {
    const { perMinute, concurrent } = limitsOf(client.key, target) ?? least;
    const atOnce = Math.min(mostAtOnce, Math.max(2, Math.floor(concurrent / 2)));
    const invoke = (): Promise<Exchange> => client.invoke(given["agents.answering"], hello, unpaced);
    const rounds: Round[] = [];
    while (rounds.length < mostRounds && (rounds.at(-1) === undefined || isUnexplained(rounds.at(-1)))) {
      await ensureAllowance(client, atOnce + 2, { time, recorder, perMinute });
      const before = await invoke();
      const sent = await Promise.all(Array.from({ length: atOnce }, invoke));
      const after = await invoke();
      const mayReturn = returnedWithin(
        recorder.samplesOf(client.key.name),
        sampleFrom(before),
        sampleFrom(after),
        time.canMove,
      );
      rounds.push({ before, atOnce: sent, after, mayReturn });
    }
    return { rounds };
  },
);

/** Windows that may roll, in seconds, and how coarsely: one that counts by pieces gives a whole piece back at once. */
const rolling = [
  { seconds: 60, blurSeconds: 10 },
  { seconds: 3600, blurSeconds: 60 },
] as const;

/** How many requests may have left a rolling window between two answers. @param canMove the run moves the target's clock, which may stand still otherwise */
export function returnedWithin(samples: readonly Sample[], from: Sample, to: Sample, canMove: boolean): number {
  const mayLeave = (sample: Sample): boolean =>
    rolling.some(({ seconds, blurSeconds }) => {
      const latest = (to.headMs - sample.sentMs + to.headClockMs - sample.sentClockMs) / 1000;
      const movedMs = from.sentClockMs - sample.endClockMs;
      const earliest = (canMove ? movedMs : from.sentMs - sample.endMs) / 1000;
      return earliest <= seconds + blurSeconds && latest >= seconds - blurSeconds;
    });
  return samples.filter((each) => each.kind !== "health" && each.status !== null && mayLeave(each)).length;
}

/** How the allowance fell over a round, all of it admitted in one window; `null` where it cannot be told. */
export interface RoundFall {
  /** From the request before the round to the one after it, which is counted too. */
  readonly fell: number;
  readonly expected: number;
  readonly mayRegain: number;
  /** What the requests at once showed. */
  readonly shown: readonly number[];
  /** What the request before showed. */
  readonly from: number;
}

export function fallOver({ before, atOnce, after }: Round): RoundFall | null {
  const samples = [before, ...atOnce, after].map(sampleFrom);
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || !samples.every(isAdmitted)) return null;
  const falls = samples.map((each) => fallBetween(first, each));
  const whole = falls.at(-1) ?? null;
  if (whole === null || falls.includes(null)) return null;
  const shown = samples.slice(1, -1).map(({ remaining }) => remaining ?? 0);
  return { ...whole, expected: atOnce.length + 1, shown, from: first.remaining ?? 0 };
}

/** Whether no order of the requests explains what was shown, whatever a window that rolls gave back meanwhile. */
export const isImpossibleFall = (round: Round): boolean => isOdd(round, round.mayReturn);

/** Whether no order of the requests explains what was shown by itself; something else may. */
export const isUnexplained = (round: Round | undefined): boolean => round !== undefined && isOdd(round, 0);

function isOdd(round: Round, mayReturn: number): boolean {
  const fall = fallOver(round);
  if (fall === null) return false;
  const { fell, expected, shown, from } = fall;
  const mayRegain = fall.mayRegain + mayReturn;
  const isShort = fell < expected - mayRegain;
  // A value that stands at the end of its range stays there while a burst is drawn on.
  const isFar = fell > expected || shown.some((value) => value > 0 && from - value > expected - 1);
  return isShort || isFar || shown.some((value) => value - from > mayRegain);
}
