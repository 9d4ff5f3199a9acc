import { rateLimitInfoOf } from "../../../rules/limits/rate-limit-info.ts";
import { latencyGroupOf, type LatencyGroup, createLatencyRecorder } from "../../histogram.ts";
import type { LoadEvidence, LoadSample, StreamSummary } from "../../load-evidence.ts";
import { toMicroseconds } from "../../load-sample.ts";
import { maxKeptSamples, createSecondCounter, type SecondCounter } from "../../second-counts.ts";
import { type EndLine, readLine, type SampleLine } from "./lines.ts";

/** What the lines of one process add up to. */
export interface CollectedLines {
  readonly requests: readonly LoadSample[];
  readonly summary: LoadEvidence["summary"];
  readonly latency: LoadEvidence["latency"];
  readonly streams: readonly StreamSummary[];
  readonly sent: number;
  readonly late: number;
  /** When the first request left and the last answer ended, epoch ms; `null` where nothing was sent. */
  readonly span: { readonly fromMs: number; readonly toMs: number } | null;
  /** Why requests had no answer, and how many. */
  readonly failures: ReadonlyMap<string, number>;
  /** `null`: the process was ended before it could write its last line. */
  readonly end: EndLine | null;
}

/** Counts from the start, for progress. */
export interface Counts {
  sent: number;
  admitted: number;
  limited: number;
  failed: number;
}

/** Takes the lines of one process as they come. */
export interface Collector {
  /** False for a line that no script of ours wrote. */
  readonly take: (line: string) => boolean;
  readonly counts: Readonly<Counts>;
  readonly collected: () => CollectedLines;
}

/** A request that left so much later than its pace wanted is a late one. */
const LATE_MS = 100;

const countedAs = { admitted: "admitted", refused: "limited", other: "failed" } as const satisfies Record<
  LatencyGroup,
  keyof Counts
>;

export function openCollector(): Collector {
  const counts: Counts = { sent: 0, admitted: 0, limited: 0, failed: 0 };
  const latency = {
    admitted: createLatencyRecorder(),
    refused: createLatencyRecorder(),
    other: createLatencyRecorder(),
  };
  const failures = new Map<string, number>();
  const streams: StreamSummary[] = [];
  let requests: LoadSample[] = [];
  let summary: SecondCounter | null = null;
  let end: EndLine | null = null;
  let late = 0;
  let fromMs = Infinity;
  let toMs = -Infinity;

  const keep = (sample: LoadSample): void => {
    if (summary !== null) return summary.add(sample);
    requests.push(sample);
    if (requests.length <= maxKeptSamples) return;
    summary = createSecondCounter();
    for (const each of requests) summary.add(each);
    requests = [];
  };
  const takeSample = (line: SampleLine): void => {
    counts.sent += 1;
    if (line.status === null) {
      if (!line.left) counts.failed += 1;
    } else {
      const group = latencyGroupOf(line.status);
      counts[countedAs[group]] += 1;
      latency[group].add(line.latencyMs);
    }
    if (line.dueMs !== null && line.sentMs - line.dueMs > LATE_MS) late += 1;
    if (line.error !== null) failures.set(line.error, (failures.get(line.error) ?? 0) + 1);
    fromMs = Math.min(fromMs, line.sentMs);
    toMs = Math.max(toMs, line.endMs);
    if (line.stream !== null) streams.push(streamOf(line, line.stream));
    keep(sampleOf(line));
  };
  return {
    counts,
    take: (text) => {
      const line = readLine(text);
      if (line?.load === "sample") takeSample(line);
      if (line?.load === "end") end = line;
      return line !== null;
    },
    collected: () => ({
      requests: requests.toSorted((one, other) => one.sentMs - other.sentMs),
      summary: summary?.counts() ?? [],
      latency: {
        admitted: latency.admitted.histogram(),
        refused: latency.refused.histogram(),
        other: latency.other.histogram(),
      },
      streams: streams.toSorted((one, other) => one.sentMs - other.sentMs),
      sent: counts.sent,
      late,
      span: counts.sent === 0 ? null : { fromMs, toMs },
      failures,
      end,
    }),
  };
}

const sampleOf = (line: SampleLine): LoadSample => ({
  flow: line.flow,
  key: line.key,
  sentMs: toMicroseconds(line.sentMs),
  headMs: toMicroseconds(line.headMs),
  endMs: line.endMs,
  status: line.status,
  ...rateLimitInfoOf(line),
  left: line.left,
  tokens: line.tokens,
  flaws: line.flaws,
});

const streamOf = (line: SampleLine, stream: NonNullable<SampleLine["stream"]>): StreamSummary => ({
  flow: line.flow,
  sentMs: toMicroseconds(line.sentMs),
  status: line.status,
  firstEventMs: stream.sequence.length === 0 ? null : toMicroseconds(line.sentMs + line.latencyMs),
  endMs: line.endMs,
  longestGapMs: null,
  sequence: stream.sequence,
  chunks: stream.chunks,
  indexes: stream.indexes,
  ending: stream.ending,
  totalTokens: line.tokens,
});
