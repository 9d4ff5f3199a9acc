import { formatNumber, rounded } from "../../base/numbers.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import { type AgentStreaming, formatRate, streamingOf } from "../model/streaming.ts";
import { mapJudged, type Vendor, type VendorWithReport } from "./vendor.ts";
import { quantile } from "../../base/statistics/samples.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { sanitizeLine } from "../../base/sanitize.ts";

/** Latencies of successful requests to one endpoint, in milliseconds. */
export interface Latency {
  readonly count: number;
  readonly median: number;
  /** 99th percentile. With fewer than 100 requests, it is close to the slowest. */
  readonly p99: number;
}

export interface LatencyRow {
  readonly name: string;
  readonly cells: readonly (Latency | null)[];
}

interface RequestKind {
  readonly name: string;
  readonly msOf: (exchange: Exchange) => number | null;
  /** Whether to count only the agent with the most requests. Other agents may be slow or fail on purpose. */
  readonly isMainAgentOnly: boolean;
}

const callsPath = (exchange: Exchange, method: string, path: RegExp): boolean =>
  exchange.request.method === method &&
  URL.canParse(exchange.request.url) &&
  path.test(new URL(exchange.request.url).pathname);

function headMs(exchange: Exchange, method: string, path: RegExp): number | null {
  const { answer, sentMs } = exchange;
  if (answer.kind !== "answered" || answer.status < 200 || answer.status > 299) return null;
  return callsPath(exchange, method, path) ? answer.headMs - sentMs : null;
}

function firstEventMs(exchange: Exchange): number | null {
  const { answer, sentMs } = exchange;
  if (headMs(exchange, "POST", /\/stream$/) === null || answer.kind !== "answered") return null;
  const [first] = answer.events;
  return first === undefined ? null : first.atMs - sentMs;
}

const headMsOf =
  (method: string, path: RegExp) =>
  (exchange: Exchange): number | null =>
    headMs(exchange, method, path);

const requestKinds: readonly RequestKind[] = [
  { name: "invoke", msOf: headMsOf("POST", /\/invoke$/), isMainAgentOnly: true },
  { name: "stream, to its first event", msOf: firstEventMs, isMainAgentOnly: true },
  { name: "health", msOf: headMsOf("GET", /\/health$/), isMainAgentOnly: true },
  { name: "list agents", msOf: headMsOf("GET", /\/agents$/), isMainAgentOnly: false },
  { name: "usage", msOf: headMsOf("GET", /\/v1\/usage$/), isMainAgentOnly: false },
];

export function latencyRows(vendors: readonly Vendor[]): LatencyRow[] {
  const rows = requestKinds.map(({ name, msOf, isMainAgentOnly }) => ({
    name,
    cells: mapJudged(vendors, ({ document }) => {
      const all = (document.evidence?.exchanges ?? []).filter((exchange) => msOf(exchange) !== null);
      const chosen = isMainAgentOnly ? exchangesOfMostCalledAgent(all) : all;
      return latencyOf(chosen.flatMap((exchange) => msOf(exchange) ?? []));
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

export const streamingOfMainAgent = memoizeByObject(
  ({ document }: VendorWithReport): AgentStreaming | null => streamingOf(document.evidence?.exchanges ?? [])[0] ?? null,
);

export function streamingRows(vendors: readonly Vendor[]): StreamingRow[] {
  const qualities = mapJudged(vendors, streamingOfMainAgent);
  return Object.entries(streamingFigures)
    .map(([name, textOf]) => ({ name, cells: qualities.map((each) => (each === null ? null : textOf(each))) }))
    .filter(({ cells }) => cells.some((cell) => cell !== null));
}
