import { missingHeaders, notNegative, remainingWithinLimit } from "../rules/limits/header-rules.ts";
import { headerFormClauseOf } from "../spec/headers.ts";
import type { LoadEvidence, LoadSample, SecondCounts, StreamSummary } from "../evidence/load-evidence.ts";
import { hasKnownHeaders } from "./load-sample.ts";
import { getOrAdd } from "../base/memoize.ts";
import { createLatencyRecorder, latencyGroupOf } from "./latency-histogram.ts";

/** Maximum number of samples to keep. The evidence of a load with more requests has counts per second instead. */
export const maxKeptSamples = 150_000;

type MutableCounts = { -readonly [Name in keyof SecondCounts]: SecondCounts[Name] };

function createSecondCounter() {
  const byName = new Map<string, MutableCounts>();
  let last: MutableCounts | null = null;
  const countsOf = (sample: LoadSample, second: number): MutableCounts => {
    // Tries the counts of the last sample first, because thousands of samples in a row belong to the same second.
    if (last !== null && last.second === second && last.flow === sample.flow && last.key === sample.key) return last;
    const name = nameOf(sample.flow, sample.key, second);
    last = getOrAdd(byName, name, () => emptyCounts(sample, second));
    return last;
  };
  return {
    add: (sample: LoadSample): void =>
      addSample(countsOf(sample, sample.date ?? Math.floor(sample.endMs / 1000)), sample),
    counts: (): SecondCounts[] => sorted(byName),
  };
}

const nameOf = (flow: string, key: string, second: number): string => `${flow} ${key} ${second}`;

const sorted = (byName: ReadonlyMap<string, SecondCounts>): SecondCounts[] =>
  [...byName.values()].toSorted((one, other) => one.second - other.second);

export function countBySecond(samples: Iterable<LoadSample>): SecondCounts[] {
  const counter = createSecondCounter();
  for (const sample of samples) counter.add(sample);
  return counter.counts();
}

export function mergeSecondCounts(parts: readonly (readonly SecondCounts[])[]): SecondCounts[] {
  const byName = new Map<string, MutableCounts>();
  for (const counts of parts.flat()) {
    const name = nameOf(counts.flow, counts.key, counts.second);
    const known = byName.get(name);
    if (known === undefined) byName.set(name, structuredClone(counts));
    else addCounts(known, counts);
  }
  return sorted(byName);
}

const emptyCounts = ({ flow, key, sentMs, endMs }: LoadSample, second: number): MutableCounts => ({
  flow,
  key,
  second,
  admitted: 0,
  refused: 0,
  failed: 0,
  unanswered: 0,
  tokens: 0,
  heads: [],
  bodies: [],
  firstSentMs: sentMs,
  lastEndMs: endMs,
});

const countNames = { admitted: "admitted", refused: "refused", other: "failed" } as const;

function addSample(counts: MutableCounts, sample: LoadSample): void {
  const { status, tokens, flaws, sentMs, endMs } = sample;
  counts[status === null ? "unanswered" : countNames[latencyGroupOf(status)]] += 1;
  if (status !== null && hasKnownHeaders(sample)) addHead(counts.heads, headOf(sample, status));
  counts.tokens += tokens ?? 0;
  if (status !== null && flaws !== null) addBody(counts.bodies, status, 1, flaws);
  counts.firstSentMs = Math.min(counts.firstSentMs, sentMs);
  counts.lastEndMs = Math.max(counts.lastEndMs, endMs);
}

function addCounts(counts: MutableCounts, other: SecondCounts): void {
  for (const name of ["admitted", "refused", "failed", "unanswered", "tokens"] as const) counts[name] += other[name];
  counts.firstSentMs = Math.min(counts.firstSentMs, other.firstSentMs);
  counts.lastEndMs = Math.max(counts.lastEndMs, other.lastEndMs);
  for (const head of other.heads) addHead(counts.heads, head);
  for (const { status, looked, flaws } of other.bodies) addBody(counts.bodies, status, looked, flaws);
}

export type ResponseHeadCounts = SecondCounts["heads"][number];

function headOf(sample: LoadSample, status: number): ResponseHeadCounts {
  const isNegative = typeof notNegative.judge(sample) === "string";
  return {
    status,
    answered: 1,
    lacking: Number(missingHeaders(sample, sample.malformed).length > 0),
    malformed: Number(!isNegative && hasMalformedNumber(sample)),
    negative: Number(isNegative),
    aboveLimit: Number(typeof remainingWithinLimit.judge(sample, null) === "string"),
  };
}

const hasMalformedNumber = ({ malformed }: LoadSample): boolean =>
  malformed?.some(({ name }) => headerFormClauseOf(name) === notNegative.clause) ?? false;

function addHead(heads: SecondCounts["heads"], more: ResponseHeadCounts): void {
  const known = heads.find(({ status }) => status === more.status);
  if (known === undefined) heads.push({ ...more });
  else
    for (const name of ["answered", "lacking", "malformed", "negative", "aboveLimit"] as const)
      known[name] += more[name];
}

function addBody(
  bodies: SecondCounts["bodies"],
  status: number,
  checked: number,
  mismatches: readonly (NonNullable<LoadSample["flaws"]>[number] & { readonly count?: number })[],
): void {
  let body = bodies.find((each) => each.status === status);
  if (body === undefined) bodies.push((body = { status, looked: 0, flaws: [] }));
  body.looked += checked;
  for (const { count = 1, ...mismatch } of mismatches) {
    const known = body.flaws.find(({ clause }) => clause === mismatch.clause);
    if (known === undefined) body.flaws.push({ ...mismatch, count });
    else known.count += count;
  }
}

export interface RequestCounts {
  sent: number;
  admitted: number;
  refused: number;
  failed: number;
}

export type CollectedSamples = Pick<LoadEvidence, "requests" | "summary" | "latency" | "streams">;

/** Collects the samples of a load. If there are too many to keep, counts them per second instead. */
export interface SampleCollector {
  readonly sample: (sample: LoadSample, latencyMs?: number) => void;
  readonly stream: (stream: StreamSummary) => void;
  readonly counts: Readonly<RequestCounts>;
  readonly collected: () => CollectedSamples;
}

export function createSampleCollector(maxSamples: number = maxKeptSamples): SampleCollector {
  const counts: RequestCounts = { sent: 0, admitted: 0, refused: 0, failed: 0 };
  const latency = createLatencyRecorder();
  const streams: StreamSummary[] = [];
  let requests: LoadSample[] = [];
  let summary: ReturnType<typeof createSecondCounter> | null = null;

  const keep = (sample: LoadSample): void => {
    if (summary !== null) return summary.add(sample);
    requests.push(sample);
    if (requests.length <= maxSamples) return;
    summary = createSecondCounter();
    for (const each of requests) summary.add(each);
    requests = [];
  };
  return {
    counts,
    stream: (stream) => void streams.push(stream),
    sample: (sample, latencyMs = sample.headMs - sample.sentMs) => {
      counts.sent += 1;
      if (sample.status === null) counts.failed += sample.left ? 0 : 1;
      else {
        counts[countNames[latencyGroupOf(sample.status)]] += 1;
        latency.add(sample.status, latencyMs);
      }
      keep(sample);
    },
    collected: () => ({
      requests: requests.toSorted((one, other) => one.sentMs - other.sentMs),
      summary: summary?.counts() ?? [],
      latency: latency.histograms(),
      streams: streams.toSorted((one, other) => one.sentMs - other.sentMs),
    }),
  };
}
