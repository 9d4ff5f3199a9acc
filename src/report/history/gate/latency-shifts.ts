import { rounded } from "../../../base/numbers.ts";
import { type LoadName, trialKey, type Night, type ReportedLatencyShift } from "../night.ts";
import { type FigureName, figureNames, loadHistories, type Point, pointsOf, valueOf } from "../series.ts";
import { clearestChange } from "../../../base/statistics/change-points.ts";
import { significantByHolm } from "../../../base/statistics/holm.ts";
import { rankSumAbove } from "../../../base/statistics/rank-sum.ts";
import { median } from "../../../base/statistics/quantile.ts";
import { robustDeviation, hodgesLehmannShift } from "../../../base/statistics/robust.ts";

/** A figure of load whose level changed: the last nights differ from those before. */
export interface LatencyShift {
  readonly load: LoadName;
  readonly figure: FigureName;
  readonly direction: ReportedLatencyShift["direction"];
  /** Medians, in milliseconds. */
  readonly wasMs: number;
  readonly isMs: number;
  /** Epoch milliseconds of the first night that had it. */
  readonly sinceMs: number;
  /** How likely the ranks of these nights are by chance alone. */
  readonly pValue: number;
}

interface Figure {
  readonly load: LoadName;
  readonly figure: FigureName;
  readonly points: readonly Point[];
}

/**
 * Figures that changed for good, as the nights show it by now: several nights agree, a rank test says that chance alone does not make that
 * (corrected for all figures that are looked at), and the change is larger than a share, than a millisecond, and than the noise.
 *
 * @param nights oldest first; the last one is tonight. Only figures that tonight has are looked at.
 */
export function latencyShifts(nights: readonly Night[], direction: ReportedLatencyShift["direction"]): LatencyShift[] {
  const figures = figuresOf(nights);
  const candidates = figures.flatMap((figure) => clearestShift(figure, direction) ?? []);
  const tests = figures.length * latencyGate.windows.length;
  const believed = significantByHolm(
    candidates.map(({ pValue }) => pValue),
    latencyGate.mostChance,
    tests,
  );
  return candidates.filter((_, at) => believed[at] === true);
}

function figuresOf(nights: readonly Night[]): Figure[] {
  const tonight = nights.at(-1);
  if (tonight === undefined) return [];
  const starts = startsOf(nights);
  const histories = loadHistories(nights);
  return [...loadHistories([tonight])].flatMap(([name, { load, nights: own }]) => {
    const fromMs = starts.get(name) ?? -Infinity;
    const since = (histories.get(name)?.nights ?? []).filter(({ atMs }) => atMs >= fromMs);
    return figureNames
      .filter((figure) => own.some(({ runs }) => runs.some((run) => valueOf(run, figure) !== null)))
      .map((figure) => ({ load, figure, points: pointsOf({ load, nights: since }, figure) }));
  });
}

/** From when on nights of a load are compared, in epoch ms by its key: the first night of its last reported change. */
function startsOf(nights: readonly Night[]): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  for (const { reported } of nights)
    for (const change of reported.changes) starts.set(trialKey(change), Date.parse(change.since));
  return starts;
}

/** The window that shows a change most clearly; `null` where none does. */
function clearestShift(
  { load, figure, points }: Figure,
  direction: ReportedLatencyShift["direction"],
): LatencyShift | null {
  const sign = direction === "slower" ? 1 : -1;
  const logs = points.map(({ value }) => sign * Math.log(Math.max(value, 0.001)));
  let best: LatencyShift | null = null;
  for (const window of latencyGate.windows) {
    const split = logs.length - window;
    const baseline = logs.slice(Math.max(0, split - latencyGate.mostBaseline), Math.max(0, split));
    const recent = logs.slice(split);
    if (baseline.length < latencyGate.leastBaseline || !isLarge(recent, baseline)) continue;
    const pValue = rankSumAbove(recent, baseline);
    if (best !== null && pValue >= best.pValue) continue;
    const wasMs = Math.exp(sign * median(baseline));
    const isMs = wasMs * Math.exp(sign * hodgesLehmannShift(recent, baseline));
    if (Math.abs(isMs - wasMs) < latencyGate.leastMs) continue;
    best = { load, figure, direction, wasMs, isMs, pValue, sinceMs: points[firstNightOf(logs, window)]?.atMs ?? 0 };
  }
  return best;
}

function isLarge(recent: readonly number[], baseline: readonly number[]): boolean {
  const least = Math.log(1 + latencyGate.leastShare);
  // A few bad nights are no new level: the change has to show without the slowest ones, too.
  const usual = recent.toSorted((a, b) => a - b).slice(0, Math.ceil(recent.length * latencyGate.usualShare));
  if (median(usual) - median(baseline) < least / 2) return false;
  const shift = hodgesLehmannShift(recent, baseline);
  if (shift < least) return false;
  const noise = Math.max(robustDeviation(baseline), latencyGate.leastScatter);
  const errors = Math.sqrt(1 / recent.length + 1 / baseline.length) * (1 + 2 / baseline.length);
  return shift >= latencyGate.leastErrors * noise * errors;
}

/** Index of the first night of the new level: the clearest change, looked for within twice the window. */
function firstNightOf(logs: readonly number[], window: number): number {
  const from = Math.max(0, logs.length - window - latencyGate.mostBaseline);
  const earliest = logs.length - 2 * window - from;
  return from + (clearestChange(logs.slice(from), 2, earliest) ?? logs.length - window - from);
}

/** The night with its second runs in the place of the first, to ask whether they show the same. Load without a second run is left out. */
export function withConfirmationRuns(night: Night): Night {
  return { ...night, load: night.second, second: [] };
}

export const reportedShiftOf = (
  { load, figure, direction, wasMs, isMs, sinceMs }: LatencyShift,
  isKnown: boolean,
): ReportedLatencyShift => ({
  ...load,
  figure,
  direction,
  wasMs: rounded(wasMs, 3),
  isMs: rounded(isMs, 3),
  since: new Date(sinceMs).toISOString(),
  isKnown,
});

/** What a change of a time must show before it fails a night. Tuned on simulated histories: see docs/nightly.md. */
export const latencyGate = {
  /** How many of the last nights are taken together: a few show a large change soon, many show a small one. */
  windows: [5, 8, 13],
  /** They are compared with at most, and at least, so many nights before them. */
  mostBaseline: 42,
  leastBaseline: 10,
  /** Least size of a change, as a share of what was usual. */
  leastShare: 0.1,
  /** This share of the nights, those with the least times, must show half of that change as well. */
  usualShare: 0.6,
  /** Least size of a change in milliseconds: smaller ones may be the load engine's own. */
  leastMs: 1,
  /** Least size of a change in standard errors of the noise of the nights before. */
  leastErrors: 4.5,
  /** Least noise that is assumed, as a share: a few nights may agree by chance. */
  leastScatter: 0.01,
  /** Probability, in one night, that chance alone makes the rank test of any figure come true. */
  mostChance: 0.001,
  /** For so many nights after a slow-down was reported, other loads that became slower before the report are counted as part of it. */
  sameChangeNights: 14,
} as const;
