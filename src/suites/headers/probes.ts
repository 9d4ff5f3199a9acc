import { isAdmitted, type Sample } from "../../limits/sample.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { TierLimits } from "../../interface/tiers.ts";
import { probe } from "../../run/probe.ts";
import { limitsOf } from "../../run/tier-of.ts";
import { ensureRoom, hello } from "../limits/traffic.ts";
import { fallBetween, shownIn } from "./shown-window.ts";

/** What the limiter of one key showed during the run. */
export interface KeyShown {
  readonly key: string;
  /** Numbers of the key's tier, where somebody said the tier; what the headers themselves showed is no proof of them. */
  readonly limits: TierLimits | null;
  readonly isFresh: boolean;
  readonly samples: readonly Sample[];
}

/** What the limiters of all keys showed. */
export interface AllShown {
  readonly keys: readonly KeyShown[];
  /** Instants at which something was sent without a key of the target, in milliseconds since the start of the run. */
  readonly keylessMs: readonly number[];
  readonly hasClock: boolean;
  /** The harness's own clock at the start of the run, in Unix milliseconds. */
  readonly startedUnixMs: number;
}

/** Of a key that was used by the thousand, so many answers are looked at from the start of the run, and from its end. */
const mostFirst = 400;
const mostLast = 200;

export const allShown = probe(
  "all rate-limit headers of the run are looked over",
  { requests: 0, lane: "afterwards" },
  async ({ recorder, target, time }): Promise<AllShown> => ({
    keys: Object.values(target.keys).map((key) => ({
      key: key.name,
      limits: key.isTierShown ? null : limitsOf(key, target),
      isFresh: key.fresh,
      samples: ends(recorder.samplesOf(key.name)),
    })),
    keylessMs: recorder.exchanges().flatMap(({ key, sentMs }) => (key === null ? [sentMs] : [])),
    hasClock: target.clock !== null,
    startedUnixMs: Date.now() - time.now(),
  }),
);

const ends = (samples: readonly Sample[]): readonly Sample[] =>
  samples.length <= mostFirst + mostLast ? samples : [...samples.slice(0, mostFirst), ...samples.slice(-mostLast)];

const unpaced = { unpaced: true } as const;
const mostAtOnce = 8;
const mostRounds = 3;
/** Where nobody knows the tier: the smallest that the document publishes. */
const least = { perMinute: 10, concurrent: 2 } as const;

/** Invokes sent at once, in rounds: one, and more where a value came twice, because a single repeat may be a refill. */
export const sentAtOnce = probe(
  "requests are sent at once",
  { needs: ["agents.answering"], requests: 2, lane: "alone" },
  async ({ client, given, target, time, recorder }) => {
    const { perMinute, concurrent } = limitsOf(client.key, target) ?? least;
    const atOnce = Math.min(mostAtOnce, Math.max(2, Math.floor(concurrent / 2)));
    const rounds: (readonly Exchange[])[] = [];
    while (rounds.length < mostRounds && (rounds.length === 0 || repeats(rounds.at(-1) ?? []) > 0)) {
      await ensureRoom(client, atOnce, { time, recorder, perMinute });
      const round = Array.from({ length: atOnce }, () => client.invoke(given["agents.answering"], hello, unpaced));
      rounds.push(await Promise.all(round));
    }
    return { rounds };
  },
);

/** How often a value of `Remaining` came again among requests of one round that were admitted in one window. */
export function repeats(round: readonly Exchange[]): number {
  const shown = comparable(round);
  return shown.length - new Set(shown.map(({ remaining }) => remaining)).size;
}

/** The admitted of a round that speak of the same window as the first of them. */
export function comparable(round: readonly Exchange[]): Sample[] {
  const admitted = round.map(shownIn).filter(isAdmitted);
  const [first] = admitted;
  return first === undefined ? [] : admitted.filter((each) => fallBetween(first, each) !== null);
}
