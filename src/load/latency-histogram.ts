import type { LatencyHistogram, LoadEvidence, LoadSample } from "../evidence/load-evidence.ts";
import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64, type Histogram } from "hdr-histogram-js";
import { is2xx } from "../base/http.ts";

/** A group of responses whose latencies share a histogram: `admitted` (2xx), `refused` (429) or `other`. */
type LatencyGroup = keyof LoadEvidence["latency"];

/** Maximum latency of a histogram, in microseconds: ten minutes, longer than any timeout. */
const maxLatencyUs = 600_000_000;

/** Creates a counter of latencies, to three significant digits, with one histogram for each {@link LatencyGroup}. */
export function createLatencyRecorder() {
  const counts = { admitted: emptyHistogram(), refused: emptyHistogram(), other: emptyHistogram() };
  return {
    add: (status: number, ms: number): void =>
      counts[latencyGroupOf(status)].recordValue(Math.min(maxLatencyUs, Math.max(1, Math.round(ms * 1000)))),
    histograms: (): LoadEvidence["latency"] => ({
      admitted: encodeHistogram(counts.admitted),
      refused: encodeHistogram(counts.refused),
      other: encodeHistogram(counts.other),
    }),
  };
}

export function histogramsOf(samples: Iterable<LoadSample>): LoadEvidence["latency"] {
  const recorder = createLatencyRecorder();
  for (const { status, sentMs, headMs } of samples) if (status !== null) recorder.add(status, headMs - sentMs);
  return recorder.histograms();
}

export function latencyGroupOf(status: number): LatencyGroup {
  if (is2xx(status)) return "admitted";
  return status === 429 ? "refused" : "other";
}

export function mergeHistograms(parts: readonly LatencyHistogram[]): LatencyHistogram {
  const sum = emptyHistogram();
  for (const part of parts) sum.add(decodeHistogram(part));
  return encodeHistogram(sum);
}

/** Returns a percentile of the latencies, in microseconds; 0 if the histogram is empty. */
export const percentileUs = (histogram: LatencyHistogram, percent: number): number =>
  histogram.count === 0 ? 0 : decodeHistogram(histogram).getValueAtPercentile(percent);

const decodeHistogram = ({ encoded }: LatencyHistogram): Histogram => decodeFromCompressedBase64(encoded, 32, false);

const emptyHistogram = (): Histogram =>
  build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: maxLatencyUs,
    numberOfSignificantValueDigits: 3,
  });

function encodeHistogram(counts: Histogram): LatencyHistogram {
  const at = (percent: number): number => (counts.totalCount === 0 ? 0 : counts.getValueAtPercentile(percent));
  return {
    count: counts.totalCount,
    p50Us: at(50),
    p90Us: at(90),
    p99Us: at(99),
    p999Us: at(99.9),
    maxUs: at(100),
    encoded: encodeIntoCompressedBase64(counts),
  };
}
