import { is2xx } from "../../base/http.ts";
import { getPath, isObject } from "../../base/json.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import { type Exchange, sentJson } from "../../evidence/exchange.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import type { AllSamples, KeySamples } from "../headers/probes.ts";
import { agentInPath, type AllExchanges, endpointOf } from "../shared/all-exchanges.ts";
import { textKindOf } from "../coverage/requests.ts";
import {
  fallBetween,
  mayOthersCountBetween,
  type OtherRequests,
  sortAndMarkOverlaps,
} from "../shared/compare-samples.ts";

/** The endpoint and the outcome of a request. Requests of one kind should lower `Remaining` by the same number. */
export interface RequestKind {
  readonly endpoint: EndpointName | null;
  /** Outcome of the request: `2xx`, or the status of an error. */
  readonly outcome: string;
}

interface LedgerEntry {
  readonly kind: RequestKind;
  readonly sample: Sample;
  /** Groups of the request, e.g. `invoke 2xx of the agent demo`. A check compares the costs within each group. */
  readonly groups: readonly string[];
  /** Like `groups`, but by the values of parameters, such as `page` 2. */
  readonly valueGroups: readonly string[];
}

/**
 * Cost of one request of a kind: how far it lowered `Remaining`. `cost` is the average of `count` requests, computed
 * from the `Remaining` of the responses `from` and `to`.
 */
export interface MeasuredCost {
  readonly kind: RequestKind;
  readonly groups: readonly string[];
  readonly valueGroups: readonly string[];
  readonly cost: number;
  readonly count: number;
  readonly from: Sample;
  readonly to: Sample;
  readonly endKinds: readonly string[];
  /**
   * Whether the test clock advanced between `from` and `to`. An advance can raise `Remaining`, which hides a part of
   * the cost.
   */
  readonly isLowerBound: boolean;
  readonly account: KeySamples;
}

export const groupOf = ({ endpoint, outcome }: RequestKind): string => `${endpoint ?? "other paths"} ${outcome}`;

/** Returns how far a request is allowed to lower `Remaining`. For example, a failed invoke: by 0 or 1. */
export function admissibleCosts({ endpoint, outcome }: RequestKind): { readonly min: number; readonly max: number } {
  const isRefusal = ["401", "403", "429"].includes(outcome);
  if (endpoint === "health" && !isRefusal) return { min: -Infinity, max: 0 };
  if (endpoint === null || outcome !== "2xx") return { min: 0, max: 1 };
  return { min: 1, max: endpoint === "batch" ? Infinity : 1 };
}

export const costsOne = (kind: RequestKind): boolean => {
  const { min, max } = admissibleCosts(kind);
  return min === 1 && max === 1;
};

export const measuredCostsOf = memoizeByObject((samples: AllSamples) =>
  memoizeByObject((all: AllExchanges): readonly MeasuredCost[] => {
    const exchanges = new Map(all.exchanges.map((each) => [each.id, each]));
    return samples.keys.flatMap((account) => {
      const series = splitIntoSeries(samplesUntilRejected(account.samples)).map((alone) =>
        alone.map((sample) => entryOf(sample, account.key, exchanges.get(sample.id), all)),
      );
      return measureCosts(series, account, samples);
    });
  }),
);

/**
 * Drops samples after the key's last 2xx if one of them got 401: the limits do not apply to a rejected key. Without any
 * 2xx, drops all samples.
 */
function samplesUntilRejected(samples: readonly Sample[]): readonly Sample[] {
  const lastMs = samples.findLast(isAdmitted)?.sentMs;
  if (lastMs === undefined) return [];
  const isRejected = samples.some(({ status, sentMs }) => status === 401 && sentMs > lastMs);
  return isRejected ? samples.filter(({ sentMs }) => sentMs <= lastMs) : samples;
}

function entryOf(sample: Sample, key: string, exchange: Exchange | undefined, all: AllExchanges): LedgerEntry {
  const endpoint = exchange === undefined ? endpointOfSample(sample) : endpointOf(exchange, all);
  const outcome = sample.status !== null && is2xx(sample.status) ? "2xx" : String(sample.status);
  const kind: RequestKind = { endpoint, outcome };
  const name = groupOf(kind);
  const { traits, values } = exchange === undefined ? noTraits : traitsOf(exchange);
  return {
    kind,
    sample,
    groups: [name, ...[`with the key ${key}`, ...traits].map((each) => `${name} ${each}`)],
    valueGroups: values.map((each) => `${name} ${each}`),
  };
}

const endpointOfSample = ({ kind }: Sample): EndpointName | null => (kind === "other" ? null : kind);

interface RequestTraits {
  readonly traits: readonly string[];
  readonly values: readonly string[];
}

const noTraits: RequestTraits = { traits: [], values: [] };

export const traitsOf = memoizeByObject((exchange: Exchange): RequestTraits => {
  const agent = agentInPath(exchange);
  const sent = sentJson(exchange.request);
  const parameters = getPath(sent, "parameters");
  const chosen = isObject(parameters) ? parameters : {};
  const texts = ["query", "session_id"].flatMap((name) => {
    const text = getPath(sent, name);
    return typeof text === "string" ? [`with a \`${name}\` of the kind ${textKindOf(text)}`] : [];
  });
  return {
    traits: [
      ...(agent === null ? [] : [`of the agent ${agent}`]),
      ...Object.keys(chosen).map((each) => `with \`${each}\``),
    ],
    values: [
      ...texts,
      ...Object.entries(chosen).flatMap(([name, value]) =>
        typeof value === "number" ? [`with \`${name}\` ${value}`] : [],
      ),
      ...[...new URL(exchange.request.url).searchParams].map(([name, value]) => `with \`${name}\` ${value}`),
    ],
  };
});

function splitIntoSeries(samples: readonly Sample[]): Sample[][] {
  const found: Sample[][] = [[]];
  for (const { sample, isAfterAll, isBeforeNext } of sortAndMarkOverlaps(samples))
    if (isAfterAll && isBeforeNext && sample.status !== null) found.at(-1)?.push(sample);
    else found.push([]);
  return found.filter(({ length }) => length > 1);
}

function measureCosts(
  series: readonly (readonly LedgerEntry[])[],
  account: KeySamples,
  others: OtherRequests,
): MeasuredCost[] {
  const measure = (
    entry: Omit<LedgerEntry, "sample">,
    count: number,
    [from, to]: Pair,
    own: number,
  ): MeasuredCost[] => {
    const { kind, groups, valueGroups } = entry;
    const isLowerBound = from.sample.sentClockMs !== to.sample.endClockMs;
    const fell = fallWithin(from.sample, to.sample, others, isLowerBound);
    const cost = ((fell ?? 0) - own) / count;
    const endKinds = [from.groups[0] ?? "", to.groups[0] ?? ""];
    const ends = { from: from.sample, to: to.sample, endKinds, isLowerBound };
    return fell === null ? [] : [{ kind, groups, valueGroups, cost, count, ...ends, account }];
  };
  const pairs = series.flatMap((entries) => entries.slice(1).map((to, index) => [entries[index] ?? to, to] as const));
  const [alike, unlike] = [pairs.filter(isOfOneKind), pairs.filter((pair) => !isOfOneKind(pair))];
  const repeated = alike.flatMap((pair) => measure({ ...pair[1], ...commonGroups(pair) }, 1, pair, 0));
  const usual = usualCosts(repeated);
  const isComparable = comparableKinds(unlike, usual, others);
  const enclosed = series.flatMap((entries) => {
    const runs = splitIntoRuns(entries);
    return runs.slice(1, -1).flatMap((run, index) => {
      const [from, to] = [runs[index]?.at(-1), runs[index + 2]?.[0]];
      const own = usual.get(to?.groups[0] ?? "");
      const [spent] = run;
      if (spent === undefined || from === undefined || to === undefined || own === undefined) return [];
      return isOfOneKind([from, to]) || isComparable(from, to) ? measure(spent, run.length, [from, to], own) : [];
    });
  });
  return [...repeated, ...enclosed];
}

type Pair = readonly [LedgerEntry, LedgerEntry];

const isOfOneKind = ([one, other]: Pair): boolean => one.groups[0] === other.groups[0];

const commonGroups = ([one, other]: Pair): Pick<LedgerEntry, "groups" | "valueGroups"> => ({
  groups: one.groups.filter((each) => other.groups.includes(each)),
  valueGroups: one.valueGroups.filter((each) => other.valueGroups.includes(each)),
});

const isAlike = (one: LedgerEntry, other: LedgerEntry): boolean =>
  one.groups.join() === other.groups.join() && one.valueGroups.join() === other.valueGroups.join();

function splitIntoRuns(series: readonly LedgerEntry[]): LedgerEntry[][] {
  const runs: LedgerEntry[][] = [];
  for (const entry of series) {
    const run = runs.at(-1);
    if (run?.[0] !== undefined && isAlike(run[0], entry)) run.push(entry);
    else runs.push([entry]);
  }
  return runs;
}

export function usualCosts(measured: readonly MeasuredCost[]): ReadonlyMap<string, number> {
  const exact = measured.filter(({ isLowerBound }) => !isLowerBound);
  const ofKinds = Map.groupBy(exact, ({ groups }) => groups[0] ?? "");
  return new Map(
    [...ofKinds].flatMap(([kind, own]) =>
      [...Map.groupBy(own, ({ cost }) => cost)].flatMap(([cost, { length }]) =>
        length > own.length / 2 ? [[kind, cost] as const] : [],
      ),
    ),
  );
}

/**
 * Returns a function that tells whether two requests, e.g. an invoke and a list, report the same `Remaining`: from
 * either kind to the other, it always fell by 1. Some servers keep another counter for some kinds of requests.
 */
function comparableKinds(
  pairs: readonly Pair[],
  usual: ReadonlyMap<string, number>,
  others: OtherRequests,
): (one: LedgerEntry, other: LedgerEntry) => boolean {
  const falls = new Map<string, Set<number>>();
  for (const [from, to] of pairs) {
    const [one = "", other = ""] = [from.groups[0], to.groups[0]];
    if (usual.get(one) !== 1 || usual.get(other) !== 1) continue;
    const fell = fallWithin(from.sample, to.sample, others);
    if (fell === null) continue;
    const name = pairName(one, other);
    falls.set(name, (falls.get(name) ?? new Set()).add(fell));
  }
  return (one, other) => {
    const found = falls.get(pairName(one.groups[0] ?? "", other.groups[0] ?? ""));
    return found !== undefined && found.size === 1 && found.has(1);
  };
}

const pairName = (...kinds: readonly string[]): string => kinds.toSorted().join(" and ");

/**
 * Returns how far `Remaining` fell from one response to the other; `null` if unknown, or if other requests or a burst
 * allowance can distort it. An advance of the test clock also gives `null`, unless `mayMoveClock` is set.
 */
export function fallWithin(from: Sample, to: Sample, others: OtherRequests, mayMoveClock = false): number | null {
  const fall = fallBetween(from, to);
  // While a burst allowance is in use, some servers keep `Remaining` at 0 or at the limit.
  const isAtEnd = to.remaining === 0 || (from.remaining === from.limit && to.remaining === to.limit);
  if (fall === null || isAtEnd || (!mayMoveClock && from.sentClockMs !== to.endClockMs)) return null;
  return mayOthersCountBetween(others, from, to) ? null : fall.fell;
}
