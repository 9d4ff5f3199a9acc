import type { LoadRun } from "../model/load-results.ts";
import type { Report } from "../model/report.ts";
import type { MetricGroup, MetricUnit, LoadMetric, Trial } from "./comparison.ts";

interface Figure {
  readonly name: string;
  readonly group: MetricGroup;
  readonly unit: MetricUnit;
  readonly of: (run: LoadRun) => number | null;
}

/** Every figure that is laid side by side, in the order in which it is shown. */
const figures: readonly Figure[] = [
  { name: "admitted", group: "counts", unit: "requests", of: ({ requests }) => requests.admitted },
  { name: "refused", group: "counts", unit: "requests", of: ({ requests }) => requests.refused },
  { name: "failed or unanswered", group: "counts", unit: "requests", of: failures },
  { name: "sent per second", group: "throughput", unit: "requests/s", of: ({ perSecond }) => perSecond.sent },
  { name: "admitted per second", group: "throughput", unit: "requests/s", of: ({ perSecond }) => perSecond.admitted },
  { name: "admitted p50", group: "latency", unit: "ms", of: ({ latencyMs }) => latencyMs.admitted?.p50 ?? null },
  { name: "admitted p99", group: "latency", unit: "ms", of: ({ latencyMs }) => latencyMs.admitted?.p99 ?? null },
  { name: "refused p50", group: "latency", unit: "ms", of: ({ latencyMs }) => latencyMs.refused?.p50 ?? null },
  { name: "refused p99", group: "latency", unit: "ms", of: ({ latencyMs }) => latencyMs.refused?.p99 ?? null },
  { name: "first event median", group: "latency", unit: "ms", of: (run) => run.streams?.firstEventMs?.median ?? null },
  { name: "first event p99", group: "latency", unit: "ms", of: (run) => run.streams?.firstEventMs?.p99 ?? null },
  { name: "memory at most", group: "memory", unit: "bytes", of: ({ serverRssBytes }) => serverRssBytes?.most ?? null },
];

function failures({ requests }: LoadRun): number {
  return requests.failed + requests.unanswered;
}

/** Load of two reports, paired by scenario, tier and engine; of several alike, the first with the first. */
export function compareLoad(
  older: Report,
  newer: Report,
): {
  readonly loadFigures: readonly LoadMetric[];
  readonly loneTrials: { readonly older: readonly Trial[]; readonly newer: readonly Trial[] };
} {
  const before = byTrial(older.load?.runs ?? []);
  const after = byTrial(newer.load?.runs ?? []);
  return {
    loadFigures: [...after].flatMap(([name, is]) => {
      const was = before.get(name);
      return was === undefined ? [] : figuresOf(was, is);
    }),
    loneTrials: { older: missing(before, after), newer: missing(after, before) },
  };
}

const trialOf = ({ scenario, tier, engine }: Trial): Trial => ({ scenario, tier, engine });

function byTrial(runs: readonly LoadRun[]): Map<string, LoadRun> {
  const found = new Map<string, LoadRun>();
  for (const run of runs) {
    const name = JSON.stringify([run.scenario, run.tier, run.engine]);
    let at = 1;
    while (found.has(`${name}${at}`)) at += 1;
    found.set(`${name}${at}`, run);
  }
  return found;
}

const missing = (all: ReadonlyMap<string, LoadRun>, from: ReadonlyMap<string, LoadRun>): Trial[] =>
  [...all].flatMap(([name, run]) => (from.has(name) ? [] : [trialOf(run)]));

function figuresOf(older: LoadRun, newer: LoadRun): LoadMetric[] {
  return figures.flatMap(({ of, ...figure }) => {
    const [was, is] = [of(older), of(newer)];
    if (was === null && is === null) return [];
    const changeShare = was === null || is === null || was === 0 ? null : (is - was) / was;
    return { ...trialOf(newer), ...figure, was, is, changeShare, doubt: doubtOf(older, newer, figure.group) };
  });
}

/** Counts of another load, and times of a generator that could not keep pace, prove nothing. */
function doubtOf(older: LoadRun, newer: LoadRun, group: MetricGroup): string | null {
  for (const [side, { validity }] of [
    ["older", older],
    ["newer", newer],
  ] as const) {
    const why = validity.invalid ?? (group === "counts" ? validity.counts : validity.pace);
    if (why !== null) return `of the ${side}: ${why}`;
  }
  if (older.stopped !== null || newer.stopped !== null) return "one of the two was stopped early";
  // Where answers decide how many are sent, planned is what was sent.
  if (group === "counts" && older.requests.planned !== newer.requests.planned)
    return "not the same number of requests was planned";
  if (older.speed !== newer.speed) return "the target's clock went at another speed";
  return older.segments.length === newer.segments.length ? null : "sent by another number of processes";
}
