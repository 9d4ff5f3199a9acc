import { formatNumber, rounded } from "../../base/numbers.ts";
import { is2xx } from "../../base/http.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import { type AgentStreaming, formatRate, streamingOf } from "../model/streaming.ts";
import { mapJudged, type Vendor, type VendorWithReport } from "./vendor.ts";
import { quantile } from "../../base/statistics/samples.ts";
import type { Answered, Exchange } from "../../evidence/exchange.ts";
import { sanitizeLine } from "../../base/sanitize.ts";

/** Summary of measured times in milliseconds, such as the latencies of successful requests to one endpoint. */
export interface Latency {
  /** Number of requests that were measured. For times between chunks: number of streams. */
  readonly count: number;
  readonly median: number;
  /** 99th percentile. With fewer than 100 measurements, it is close to the maximum. */
  readonly p99: number;
}

export interface LatencyRow {
  readonly name: string;
  readonly cells: readonly (Latency | null)[];
}

interface RequestKind {
  readonly name: string;
  readonly method: string;
  readonly path: RegExp;
  readonly atMs: (answer: Answered) => number | null;
  /** Whether to measure only the agent with the most 2xx responses. Other agents may be slow on purpose. */
  readonly isMainAgentOnly: boolean;
}

const headTime = ({ headMs }: Answered): number => headMs;
const firstEventTime = ({ events }: Answered): number | null => events[0]?.atMs ?? null;

const requestKinds: readonly RequestKind[] = [
  { name: "invoke", method: "POST", path: /\/invoke$/, atMs: headTime, isMainAgentOnly: true },
  {
    name: "stream, to its first event",
    method: "POST",
    path: /\/stream$/,
    atMs: firstEventTime,
    isMainAgentOnly: true,
  },
  { name: "health", method: "GET", path: /\/health$/, atMs: headTime, isMainAgentOnly: true },
  { name: "list agents", method: "GET", path: /\/agents$/, atMs: headTime, isMainAgentOnly: false },
  { name: "usage", method: "GET", path: /\/v1\/usage$/, atMs: headTime, isMainAgentOnly: false },
];

function latencyMsOf({ method, path, atMs }: RequestKind, { request, answer, sentMs }: Exchange): number | null {
  if (answer.kind !== "answered" || !is2xx(answer.status) || request.method !== method) return null;
  const called = URL.parse(request.url);
  const at = called !== null && path.test(called.pathname) ? atMs(answer) : null;
  return at === null ? null : at - sentMs;
}

export function latencyRows(vendors: readonly Vendor[]): LatencyRow[] {
  const rows = requestKinds.map((kind) => ({
    name: kind.name,
    cells: mapJudged(vendors, ({ document }) => {
      const all = (document.evidence?.exchanges ?? []).filter((exchange) => latencyMsOf(kind, exchange) !== null);
      const chosen = kind.isMainAgentOnly ? exchangesOfMostCalledAgent(all) : all;
      return latencyOf(chosen.flatMap((exchange) => latencyMsOf(kind, exchange) ?? []));
    }),
  }));
  return [...rows, ...chunkTimeRows(vendors)].filter(({ cells }) => cells.some((cell) => cell !== null));
}

function chunkTimeRows(vendors: readonly Vendor[]): LatencyRow[] {
  const ofMainAgent = mapJudged(vendors, streamingOfMainAgent);
  const rowOf = (name: string, timesOf: (each: AgentStreaming) => AgentStreaming["gapMs"]): LatencyRow => ({
    name,
    cells: ofMainAgent.map((each) => {
      const times = each === null ? null : timesOf(each);
      return each === null || times === null ? null : { count: each.streams, median: times.p50, p99: times.p99 };
    }),
  });
  return [
    rowOf("stream, to its first content", ({ firstContentMs }) => firstContentMs),
    rowOf("stream, between two chunks", ({ gapMs }) => gapMs),
  ];
}

function exchangesOfMostCalledAgent(exchanges: readonly Exchange[]): readonly Exchange[] {
  const byPath = Map.groupBy(exchanges, ({ request }) => new URL(request.url).pathname);
  return [...byPath.values()].toSorted((one, other) => other.length - one.length)[0] ?? [];
}

function latencyOf(times: readonly number[]): Latency | null {
  if (times.length === 0) return null;
  return { count: times.length, median: rounded(quantile(times, 0.5), 3), p99: rounded(quantile(times, 0.99), 3) };
}

export function loadLatencyRows(vendors: readonly Vendor[]): LatencyRow[] {
  const columns = mapJudged(vendors, loadLatenciesOf);
  const names = [...new Set(columns.flatMap((column) => [...(column?.keys() ?? [])]))];
  return names.map((name) => ({ name, cells: columns.map((column) => column?.get(name) ?? null) }));
}

function loadLatenciesOf({ load }: VendorWithReport): ReadonlyMap<string, Latency> {
  const runs = load?.report.load?.runs ?? [];
  return new Map(
    runs.flatMap(({ scenario, tier, latencyMs: { admitted }, streams, validity }): [string, Latency][] => {
      if (validity.invalid !== null) return [];
      const name = sanitizeLine(`${scenario}, ${tier ?? "enterprise"}`, 80);
      const first = streams?.firstEventMs ?? null;
      return [
        ...(admitted === null ? [] : [latencyEntry(name, admitted.count, admitted.p50, admitted.p99)]),
        ...(first === null ? [] : [latencyEntry(`${name}, first event`, first.count, first.median, first.p99)]),
      ];
    }),
  );
}

const latencyEntry = (name: string, count: number, median: number, p99: number): [string, Latency] => [
  name,
  { count, median, p99 },
];

/**
 * One measurement of streaming quality, with one cell per vendor. The measured agent is the vendor's agent with the
 * most streams.
 */
export interface StreamingRow {
  readonly name: string;
  readonly cells: readonly (string | null)[];
}

const streamingFigures: Readonly<Record<string, (quality: AgentStreaming) => string | null>> = {
  "longest gap": ({ gapMs }) => (gapMs === null ? null : `${formatNumber(Math.round(gapMs.max))} ms`),
  "content a second": formatRate,
  "streams that come all at once": ({ lumps, streams }) => `${lumps} of ${streams}`,
};

const streamingOfMainAgent = memoizeByObject(
  ({ document }: VendorWithReport): AgentStreaming | null => streamingOf(document.evidence?.exchanges ?? [])[0] ?? null,
);

export function streamingRows(vendors: readonly Vendor[]): StreamingRow[] {
  const qualities = mapJudged(vendors, streamingOfMainAgent);
  return Object.entries(streamingFigures)
    .map(([name, textOf]) => ({ name, cells: qualities.map((each) => (each === null ? null : textOf(each))) }))
    .filter(({ cells }) => cells.some((cell) => cell !== null));
}
