import { isAdmitted, isAgentCall, type Sample } from "../../rules/limits/sample.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { firstRequirementSet, isAddedAfter } from "../../spec/clause.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import { fallBetween, sortAndMarkOverlaps } from "../shared/compare-samples.ts";

/**
 * Two admitted requests of one key, with only health requests between them. `health` is the number of health requests,
 * `events` the number of stream events that `from` got.
 */
interface ConsecutivePair {
  readonly from: Sample;
  readonly to: Sample;
  readonly health: number;
  readonly events: number;
}

/**
 * Pairs of consecutive requests of the main key, sent by earlier probes. `null` with a test clock or a high limit per
 * minute: separate probes then test which requests lower `Remaining`.
 */
interface PassiveCounting {
  readonly neighbours: readonly ConsecutivePair[] | null;
}

const passivelyCounted = probe(
  "what was sent one after another on a small key is looked over",
  { requests: 0, stage: "review" },
  async ({ client, recorder, target }): Promise<PassiveCounting> => {
    if (!hasFewRequests(target)) return { neighbours: null };
    const eventsOf = new Map(
      recorder
        .exchangesOutsideOutages()
        .flatMap(({ id, answer }) =>
          answer.kind === "answered" && answer.ending.kind === "complete" ? [[id, answer.events.length]] : [],
        ),
    );
    const isUnjudged = ({ since }: { readonly since?: string }): boolean => isAddedAfter(firstRequirementSet, since);
    const keylessMs = recorder
      .exchangesOutsideOutages()
      .flatMap((each) => (each.key === null || isUnjudged(each) ? [each.sentMs] : []));
    const series = recorder
      .sampleSeriesOf(client.key.name)
      .map((samples) => samples.filter((each) => !isUnjudged(each)));
    return { neighbours: series.flatMap((samples) => consecutivePairs(samples, { eventsOf, keylessMs })) };
  },
);

interface PairContext {
  readonly eventsOf: ReadonlyMap<string, number>;
  readonly keylessMs: readonly number[];
}

export function consecutivePairs(samples: readonly Sample[], { eventsOf, keylessMs }: PairContext): ConsecutivePair[] {
  const found: ConsecutivePair[] = [];
  let from: Sample | null = null;
  let health = 0;
  for (const { sample: to, isAfterAll: isAlone } of sortAndMarkOverlaps(samples)) {
    if (to.kind === "health" && isAlone) health += 1;
    else {
      const isNext = from !== null && isAlone && isAdmitted(to) && !hasKeyless(keylessMs, from, to);
      if (isNext && from !== null) found.push({ from, to, health, events: eventsOf.get(from.id) ?? 0 });
      from = isAlone && isAdmitted(to) && to.kind !== "health" ? to : null;
      health = 0;
    }
  }
  return found;
}

const hasKeyless = (keylessMs: readonly number[], from: Sample, to: Sample): boolean =>
  keylessMs.some((ms) => ms >= from.sentMs && ms <= to.headMs);

const fallOf = ({ from, to }: ConsecutivePair): number | null => fallBetween(from, to)?.fell ?? null;

/** Minimum number of request pairs for a breach. Another client's request can distort a single pair. */
const minPairs = 2;
/** Minimum number of health requests in a pair. If both counted, `Remaining` would fall by 3 instead of 1. */
const minHealthReads = 2;
/** Minimum number of events of a judged stream. If events counted, the stream would lower `Remaining` by 3, not 1. */
const minEvents = 3;

function isRemainingReliable(all: readonly ConsecutivePair[]): boolean {
  const plain = all.filter(({ from, to, health }) => health === 0 && from.kind === "invoke" && to.kind === "invoke");
  const falls = plain.flatMap((each) => fallOf(each) ?? []);
  return falls.includes(1) && falls.every((fell) => fell <= 1);
}

const remainingUnreliable = unproven("`Remaining` was not observed to fall by 1 with each invoke (HDR-12)");

/** Judges HLT-16: health requests do not lower `Remaining`. Uses only requests that other probes sent. */
export function judgeHealthOfOtherProbes({ neighbours }: PassiveCounting): Finding<never> {
  if (neighbours === null) return probedSeparately;
  if (!isRemainingReliable(neighbours)) return remainingUnreliable;
  const pairs = neighbours.filter(({ health, to }) => health >= minHealthReads && isAgentCall(to));
  return judgeFalls(pairs, 1, "`Remaining` falls by 1, for the request after health reports");
}

/** Judges LIM-11 by requests of other probes: a stream counts as one request, however many events it has. */
export function judgeStreamsOfOtherProbes({ neighbours }: PassiveCounting): Finding<never> {
  if (neighbours === null) return probedSeparately;
  if (!isRemainingReliable(neighbours)) return remainingUnreliable;
  const over = pairsAroundStreams(neighbours);
  const judged = judgeFalls(
    over,
    2,
    "`Remaining` falls by at most 2 from the request before a stream to the one after it",
  );
  if (judged.kind !== "holds" || over.some((each) => fallOf(each) === 2)) return judged;
  return unproven("no stream was observed to be counted");
}

/**
 * Pairs the request before each stream with the request after it. Skips the stream's own `Remaining`, because a server
 * can send it before counting the stream.
 */
const pairsAroundStreams = (neighbours: readonly ConsecutivePair[]): ConsecutivePair[] =>
  neighbours.flatMap((after) => {
    const { from: stream, events, health } = after;
    if (stream.kind !== "stream" || events < minEvents || health > 0) return [];
    const before = neighbours.find((each) => each.to.id === stream.id && each.health === 0);
    return before === undefined ? [] : [{ ...after, from: before.from }];
  });

function judgeFalls(pairs: readonly ConsecutivePair[], max: number, expected: string): Finding<never> {
  const falls = pairs.flatMap((pair) => {
    const fell = fallOf(pair);
    return fell === null || fell < 0 ? [] : [{ pair, fell }];
  });
  if (falls.some(({ fell }) => fell <= max)) return holds();
  if (falls.length < minPairs) return unproven("too few pairs of responses report one window");
  const text = falls.map(({ pair: { from, to }, fell }) => `by ${fell} from ${from.id} to ${to.id}`).join(", ");
  return breach(expected, `it fell ${text}`);
}

const probedSeparately = inapplicable("a probe of its own tests this");

export const passiveCountingChecks: readonly Check[] = [
  check("LIM-11", passivelyCounted, judgeStreamsOfOtherProbes, { as: "as sent" }),
  check("HLT-16", passivelyCounted, judgeHealthOfOtherProbes, { as: "as sent" }),
];
