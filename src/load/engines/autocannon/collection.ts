import { groupOf, openHistogram } from "../../histogram.ts";
import type { LoadEvidence, LoadSample, StreamSummary } from "../../load-evidence.ts";
import { mostSamples, openSummary } from "../../summarise.ts";

export type CollectedSamples = Pick<LoadEvidence, "requests" | "summary" | "latency" | "streams">;

/** Running totals; see `LoadProgress`. */
export interface Tally {
  sent: number;
  admitted: number;
  limited: number;
  failed: number;
}

/** Takes in what came of the requests: each of them, or their exact counts where there are too many to keep. */
export interface Collection {
  readonly sample: (sample: LoadSample) => void;
  readonly stream: (stream: StreamSummary) => void;
  readonly tally: Readonly<Tally>;
  readonly collected: () => CollectedSamples;
}

export function openCollection(most: number = mostSamples): Collection {
  const summary = openSummary();
  const groups = { admitted: openHistogram(), refused: openHistogram(), other: openHistogram() };
  const streams: StreamSummary[] = [];
  const tally: Tally = { sent: 0, admitted: 0, limited: 0, failed: 0 };
  let requests: LoadSample[] = [];
  return {
    tally,
    stream: (stream) => void streams.push(stream),
    sample: (sample) => {
      tally.sent += 1;
      tally[talliedAs(sample.status)] += 1;
      if (sample.status !== null) groups[groupOf(sample.status)].add(sample.headMs - sample.sentMs);
      summary.add(sample);
      if (tally.sent <= most) requests.push(sample);
      else requests = [];
    },
    collected: () => ({
      requests: requests.toSorted((one, other) => one.sentMs - other.sentMs),
      summary: tally.sent > most ? summary.slots() : [],
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
  const group = groupOf(status);
  return group === "admitted" ? "admitted" : group === "refused" ? "limited" : "failed";
}
