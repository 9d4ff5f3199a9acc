import { decodeFromCompressedBase64 } from "hdr-histogram-js";

import { type Group, histogram } from "../../charts/histogram.ts";
import { counted } from "../../../base/text.ts";
import type { LatencyHistogram, LoadEvidence } from "../../../load/load-evidence.ts";
import type { Html } from "../markup.ts";
import type { Seen } from "./seen.ts";

/** Milliseconds with as many digits as they are worth. */
export const ms = (value: number): string => `${value >= 100 ? Math.round(value) : Number(value.toPrecision(2))} ms`;

const label = "from sending to the head of the answer, logarithmic";

interface Named {
  readonly name: string;
  readonly tone: Group["tone"];
  /** In milliseconds, least first; each stands for an equal share. */
  readonly values: readonly number[];
  readonly count: number;
}

function latencyChart(title: string, groups: readonly Named[]): Html | null {
  const there = groups.filter(({ values }) => values.length > 0);
  if (there.length === 0) return null;
  return histogram({
    title,
    says:
      there
        .map(
          ({ name, values, count }) =>
            `${counted(count, "answer")} ${name}: half of them within ${ms(quantile(values, 0.5))}, 99 % within ${ms(quantile(values, 0.99))}`,
        )
        .join("; ") + ".",
    label,
    format: (value) => (value >= 1000 ? `${value / 1000} s` : `${Number(value.toPrecision(3))} ms`),
    groups: there.map(({ name, tone, values }) => ({
      name,
      tone,
      values: values.map((value) => ({ value, share: 1 / values.length })),
    })),
    table: {
      head: ["answers", "count", "half within", "90 %", "99 %", "99.9 %", "longest"],
      rows: there.map(({ name, values, count }) => [
        name,
        count,
        ...[0.5, 0.9, 0.99, 0.999, 1].map((share) => ms(quantile(values, share))),
      ]),
    },
  });
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? 0;

/** Latencies of the answers that a run saw while it used up allowances. */
export function seenLatencyFigure(seen: readonly Seen[]): Html | null {
  const of = (became: Seen["became"], name: string, tone: Group["tone"]): Named => {
    const values = seen
      .filter((each) => each.became === became && each.latencyMs > 0)
      .map(({ latencyMs }) => latencyMs);
    return { name, tone, values: values.toSorted((one, other) => one - other), count: values.length };
  };
  return latencyChart("Latency while the limits were used up", [
    of("admitted", "admitted", "first"),
    of("refused", "refused with 429", "bad"),
  ]);
}

/** Latencies of a load run, from its HDR histograms. */
export function loadLatencyFigure({ latency }: LoadEvidence, title: string): Html | null {
  return latencyChart(title, [
    { name: "admitted", tone: "first", ...decoded(latency.admitted) },
    { name: "refused with 429", tone: "bad", ...decoded(latency.refused) },
    { name: "with another status", tone: "third", ...decoded(latency.other) },
  ]);
}

const slices = 1000;

/** Values at even shares of a histogram; of one that cannot be read, what stands beside it. */
function decoded({ count, encoded, p50Us, p90Us, p99Us, maxUs }: LatencyHistogram): Pick<Named, "values" | "count"> {
  if (count === 0) return { values: [], count };
  try {
    const found = decodeFromCompressedBase64(encoded, 32, false);
    if (found.totalCount !== count) throw new Error("the histogram is not whole");
    const parts = Math.min(slices, count);
    // The middle of each slice, and of the last its end: the longest must not get lost.
    const share = (at: number): number => (at === parts - 1 ? 100 : ((at + 0.5) / parts) * 100);
    return { count, values: Array.from({ length: parts }, (_, at) => found.getValueAtPercentile(share(at)) / 1000) };
  } catch {
    return { count, values: [p50Us, p50Us, p50Us, p90Us, p99Us, maxUs].map((us) => us / 1000) };
  }
}
