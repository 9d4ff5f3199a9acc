import { sanitizeLine } from "../../base/sanitize.ts";
import { type LoadName, trialKey, type ReportedLatencyShift } from "./night.ts";

/** `burst pro autocannon`. */
export const loadText = (load: LoadName): string => sanitizeLine(trialKey(load), 80);

/** `12.3 ms`, `0.53 ms`, `1,240 ms`. */
export const msText = (ms: number): string =>
  `${ms.toLocaleString("en", { maximumFractionDigits: ms < 10 ? 2 : ms < 100 ? 1 : 0 })} ms`;

/** `+15 %`, of a change from one value to another. */
export function shareText(was: number, is: number): string {
  const percent = Math.round((is / was - 1) * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "−" : "±"}${Math.abs(percent)} %`;
}

/** `2030-02-05`. */
export const dayOf = (iso: string): string => iso.slice(0, 10);

export const timeText = ({ figure, wasMs, isMs, ...load }: ReportedLatencyShift): string =>
  `load ${loadText(load)}: ${figure} ${msText(wasMs)} → ${msText(isMs)} (${shareText(wasMs, isMs)})`;

/** The changes of one load as one: a slow-down shows in several figures. */
export function byLoad(
  changes: readonly ReportedLatencyShift[],
): (readonly [ReportedLatencyShift, ...ReportedLatencyShift[]])[] {
  return [...Map.groupBy(changes, trialKey).values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [[first, ...rest] as const],
  );
}

/** One sentence on a load, without a full stop: every figure, and the first night that had it. */
export function changesText([first, ...rest]: readonly [ReportedLatencyShift, ...ReportedLatencyShift[]]): string {
  const others = rest.map(
    ({ figure, wasMs, isMs }) => `, ${figure} ${msText(wasMs)} → ${msText(isMs)} (${shareText(wasMs, isMs)})`,
  );
  const since = [first, ...rest].map((each) => each.since).toSorted()[0] ?? first.since;
  return `${timeText(first)}${others.join("")}, since the night of ${dayOf(since)}`;
}
