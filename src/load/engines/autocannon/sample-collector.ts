import { latencyGroupOf, createLatencyRecorder } from "../../histogram.ts";
import type { LoadEvidence, LoadSample, StreamSummary } from "../../load-evidence.ts";
import { maxKeptSamples, createSecondCounter } from "../../second-counts.ts";

export type CollectedSamples = Pick<LoadEvidence, "requests" | "summary" | "latency" | "streams">;

/** Running totals; see `LoadProgress`. */
export interface RequestCounts {
  sent: number;
  admitted: number;
  limited: number;
  failed: number;
}

/** Takes in what came of the requests: each of them, or their exact counts where there are too many to keep. */
export interface SampleCollector {
  readonly sample: (sample: LoadSample) => void;
  readonly stream: (stream: StreamSummary) => void;
  readonly tally: Readonly<RequestCounts>;
  readonly collected: () => CollectedSamples;
}

export function createSampleCollector(most: number = maxKeptSamples): SampleCollector {
  const summary = createSecondCounter();
  const groups = {
    admitted: createLatencyRecorder(),
    refused: createLatencyRecorder(),
    other: createLatencyRecorder(),
  };
  const streams: StreamSummary[] = [];
  const tally: RequestCounts = { sent: 0, admitted: 0, limited: 0, failed: 0 };
  let requests: LoadSample[] = [];
  return {
    tally,
    stream: (stream) => void streams.push(stream),
    sample: (sample) => {
      tally.sent += 1;
      tally[talliedAs(sample.status)] += 1;
      if (sample.status !== null) groups[latencyGroupOf(sample.status)].add(sample.headMs - sample.sentMs);
      summary.add(sample);
      if (tally.sent <= most) requests.push(sample);
      else requests = [];
    },
    collected: () => ({
      requests: requests.toSorted((one, other) => one.sentMs - other.sentMs),
      summary: tally.sent > most ? summary.counts() : [],
      latency: {
        admitted: groups.admitted.histogram(),
        refused: groups.refused.histogram(),
        other: groups.other.histogram(),
      },
      streams: streams.toSorted((one, other) => one.sentMs - other.sentMs),
    }),
  };
}

function talliedAs(status: number | null): "admitted" | "limited" | "failed" {
  if (status === null) return "failed";
  const group = latencyGroupOf(status);
  return group === "admitted" ? "admitted" : group === "refused" ? "limited" : "failed";
}
