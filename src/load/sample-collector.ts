import { latencyGroupOf, createLatencyRecorder } from "./histogram.ts";
import type { LoadEvidence, LoadSample, StreamSummary } from "../evidence/load-evidence.ts";
import { countNames, createSecondCounter, maxKeptSamples, type SecondCounter } from "./second-counts.ts";

/** Numbers of requests so far, by outcome as in {@link LoadProgress}. */
export interface RequestCounts {
  sent: number;
  admitted: number;
  refused: number;
  failed: number;
}

export type CollectedSamples = Pick<LoadEvidence, "requests" | "summary" | "latency" | "streams">;

/** Collects the samples of a load. If there are too many to keep, counts them per second instead. */
export interface SampleCollector {
  /** Adds a sample. `latencyMs` is the engine's own measurement, if it has one. */
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
  let summary: SecondCounter | null = null;

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
