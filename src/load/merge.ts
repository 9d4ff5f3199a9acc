import { countBySecond, maxKeptSamples, mergeSecondCounts } from "./second-counts.ts";
import { mergeHistograms } from "./latency-histogram.ts";
import { targetTime } from "./judge/target-time.ts";
import type { LoadEvidence } from "../evidence/load-evidence.ts";

/** Merges the evidence of processes that shared a load. Their clocks differ by at most `clocksApartMs`. */
export function mergeEvidence(parts: readonly LoadEvidence[], clocksApartMs: number): LoadEvidence {
  const [first, ...others] = parts;
  if (first === undefined) throw new Error("There is no evidence to merge: name at least one file.");
  for (const other of others) assertSameRun(first, other);
  if (others.length === 0) return first;
  assertClocksAgree(parts, clocksApartMs);
  const startedMs = Math.min(...parts.map(({ startedAt }) => Date.parse(startedAt)));
  const endedMs = Math.max(...parts.map(({ startedAt, durationMs }) => Date.parse(startedAt) + durationMs));
  const sent = parts.flatMap(({ requests }) => requests).toSorted((one, other) => one.sentMs - other.sentMs);
  const isLong = sent.length > maxKeptSamples || parts.some(({ summary }) => summary.length > 0);
  return {
    ...first,
    isFresh: parts.every(({ isFresh }) => isFresh),
    startedAt: new Date(startedMs).toISOString(),
    durationMs: endedMs - startedMs,
    segments: parts.flatMap(({ segments }) => segments),
    ...(clocksApartMs === 0 ? {} : { clocksApartMs }),
    notes: [...new Set(parts.flatMap(({ notes }) => notes))],
    requests: isLong ? [] : sent,
    summary: isLong ? mergeSecondCounts(parts.map(secondCountsOf)) : [],
    generator: mergeGenerators(parts.map(({ generator }) => generator)),
    latency: {
      admitted: mergeHistograms(parts.map(({ latency }) => latency.admitted)),
      refused: mergeHistograms(parts.map(({ latency }) => latency.refused)),
      other: mergeHistograms(parts.map(({ latency }) => latency.other)),
    },
    streams: parts.flatMap(({ streams }) => streams).toSorted((one, other) => one.sentMs - other.sentMs),
    ledger: fromOnePart(parts.map(({ ledger }) => ledger)),
    deliveries: fromOnePart(parts.map(({ deliveries }) => deliveries)),
    server: fromOnePart(parts.map(({ server }) => server)),
    stopped: parts.map(({ stopped }) => stopped).find((reason) => reason !== null) ?? null,
  };
}

const secondCountsOf = ({ requests, summary }: LoadEvidence) =>
  summary.length > 0 ? summary : countBySecond(requests);

function assertSameRun(first: LoadEvidence, other: LoadEvidence): void {
  const same = ["scenario", "engine", "engineVersion", "tier", "speed", "limits", "flows"] as const;
  const differing = same.find((name) => JSON.stringify(first[name]) !== JSON.stringify(other[name]));
  if (differing !== undefined)
    throw new Error(
      `These are not parts of one run: their ${differing} differs (${JSON.stringify(first[differing])}, ${JSON.stringify(other[differing])}). Judge them one by one.`,
    );
  const twice = first.segments.find((segment) => other.segments.includes(segment));
  if (twice !== undefined) throw new Error(`The segment ${twice} is there twice: name each part once.`);
}

function assertClocksAgree(parts: readonly LoadEvidence[], clocksApartMs: number): void {
  if (clocksApartMs === 0) return;
  const offsets = parts.flatMap(({ requests, speed }) => {
    const time = targetTime(requests, speed);
    const { fromMs, toMs } = time.at(0);
    return time.kind === "steady" ? [{ fromMs: fromMs - time.unknownMs, toMs: toMs + time.unknownMs }] : [];
  });
  const gapMs = Math.max(...offsets.map(({ fromMs }) => fromMs)) - Math.min(...offsets.map(({ toMs }) => toMs));
  if (gapMs / (parts[0]?.speed ?? 1) <= clocksApartMs) return;
  throw new Error(
    `By the target's \`Date\`, the clocks of the sending machines differ by at least ${Math.ceil(gapMs)} ms: allow more than ${clocksApartMs} ms.`,
  );
}

function mergeGenerators(parts: readonly LoadEvidence["generator"][]): LoadEvidence["generator"] {
  const sum = (name: "planned" | "sent" | "dropped" | "late"): number =>
    parts.reduce((total, part) => total + part[name], 0);
  const busiest = parts.map((part) => part.busiest);
  return {
    planned: sum("planned"),
    sent: sum("sent"),
    dropped: sum("dropped"),
    late: sum("late"),
    busiest: busiest.includes(null) ? null : Math.max(...busiest.map(Number)),
  };
}

/** Returns the value that is not `null`, if any. Only one of the sending processes records e.g. webhook deliveries. */
const fromOnePart = <T>(found: readonly (T | null)[]): T | null => found.find((each) => each !== null) ?? null;
