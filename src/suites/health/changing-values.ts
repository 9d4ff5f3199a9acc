import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { isTimestamp } from "../../rules/bodies/timestamps.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { needsMoreTime } from "../../run/skip-reason.ts";
import { agentInPath, allExchanges, type AllExchanges, endpointOf, splitAtReturns } from "../shared/all-exchanges.ts";
import type { JudgedResponse } from "../shared/cases.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";
import { type StreamAccounted, streamAccounted } from "../usage/probes.ts";
import { healthChecked, laterChecked } from "./probes.ts";

type TimeField = "uptime" | "last_request";
type ReportPair = readonly [Exchange, Exchange];

/**
 * Minimum time between two reports to compare, because some servers report `uptime` and `last_request` in whole
 * seconds.
 */
const minGapMs = 3000;

/** Returns the time by the target's clock at which a request was sent. */
const sentAtMs = ({ sentMs, clockMs }: Exchange): number => sentMs + clockMs;

/**
 * Returns the time that has passed for the target between two requests, at least. A test clock may stand still between
 * two advances, so with one only the advances count.
 */
const gapMs = (first: Exchange, last: Exchange, { canAdvance = false }: AllExchanges): number =>
  canAdvance ? last.clockMs - first.clockMs : sentAtMs(last) - sentAtMs(first);

/** Returns a time field of a report; `undefined` if it is absent or has the wrong type, which another clause judges. */
function fieldOf(exchange: Exchange, name: TimeField): unknown {
  const value = getPath(bodyJson(exchange), name);
  const isReadable = name === "uptime" ? typeof value === "number" : typeof value === "string" && isTimestamp(value);
  return isReadable ? value : undefined;
}

/**
 * Returns the first and the last report that have a field; `null` if too little time lies between them for the field to
 * change.
 */
function firstAndLast(reports: readonly Exchange[], name: TimeField, all: AllExchanges): ReportPair | null {
  const readable = reports.filter((each) => fieldOf(each, name) !== undefined);
  const [first, last] = [readable[0], readable.at(-1)];
  return first !== undefined && last !== undefined && gapMs(first, last, all) >= minGapMs ? [first, last] : null;
}

const isConstant = ([first, last]: ReportPair, name: TimeField): boolean =>
  fieldOf(first, name) === fieldOf(last, name);

/**
 * Judges that reports change: `uptime` as time passes, and `last_request` after a request. Compares only reports
 * between two outages of the target.
 */
export function judgeChangingValues(all: AllExchanges, agent: string | null): Finding<never> {
  const own = all.exchanges.filter((each) => agentInPath(each) === agent);
  const findings = splitAtReturns(own, all).map((exchanges) => judgeSeries(exchanges, all));
  const found = (kind: Finding["kind"]) => findings.find((each) => each.kind === kind);
  return found("breach") ?? found("holds") ?? unprovenTooClose;
}

const unprovenTooClose = unproven(
  "no two reports with `uptime` or `last_request` are some seconds apart",
  needsMoreTime,
);

function judgeSeries(exchanges: readonly Exchange[], all: AllExchanges): Finding<never> {
  const own = exchanges.toSorted((one, other) => sentAtMs(one) - sentAtMs(other));
  const reports = own.filter((each) => endpointOf(each) === "health" && hasStatus(each, 200));
  const uptimes = firstAndLast(reports, "uptime", all);
  if (uptimes !== null && isConstant(uptimes, "uptime"))
    return breach(
      "an `uptime` that rises with time",
      `always ${formatValue(fieldOf(uptimes[0], "uptime"))}`,
      ...uptimes,
    );
  const requests = firstAndLast(reports, "last_request", all);
  const isUsed = requests !== null && own.some((each) => isInvokeBetween(each, requests, all));
  if (isUsed && isConstant(requests, "last_request"))
    return breach(
      "a `last_request` that changes with each request",
      `always ${formatValue(fieldOf(requests[0], "last_request"))}`,
      ...requests,
    );
  return uptimes === null && !isUsed ? unprovenTooClose : holds();
}

/** Whether an exchange is a successful invoke before the last report, and at least `minGapMs` after the first. */
const isInvokeBetween = (each: Exchange, [first, last]: ReportPair, all: AllExchanges): boolean =>
  endpointOf(each) === "invoke" &&
  isSuccess(each) &&
  gapMs(first, each, all) >= minGapMs &&
  each.answer.endMs <= last.sentMs;

/** Judges that a stream changes `last_request`, as other requests do. */
export function judgeStreamChanges({ reports, streamed }: StreamAccounted): Finding<never> {
  if (!isSuccess(streamed)) return unproven("the agent did not stream");
  const [before, after] = reports.map((each) => fieldOf(each, "last_request"));
  if (before === undefined || after === undefined) return unproven("the reports have no `last_request`");
  return before === after
    ? breach("a `last_request` that changes with a stream", `still ${formatValue(after)}`, ...reports, streamed)
    : holds();
}

export const changingValueChecks: readonly Check[] = [
  check("HLT-22", { all: allExchanges, first: healthChecked, later: laterChecked }, ({ all, first }) =>
    judgeChangingValues(all, agentInPath(first.first)),
  ),
  check("HLT-22", streamAccounted, judgeStreamChanges, { as: "stream" }),
];

/** Minimum time between two uptimes to compare. In less time, rounding may hide by how much the value rose. */
const minUptimeGapMs = 20;
/**
 * Minimum number of pairs that prove a wrong unit. In a single pair, the run may not have recorded an advance of the
 * test clock yet.
 */
const minPairs = 2;
/**
 * An uptime in milliseconds rises by about 1000 a second, one in seconds by about 1. Between these bounds it is in
 * milliseconds.
 */
const [minMillisecondRate, maxMillisecondRate] = [300, 3000];

interface Uptime {
  readonly exchange: Exchange;
  readonly uptime: number;
}

type UptimePair = readonly [Uptime, Uptime];

/**
 * Returns the reports whose `uptime` rises about a thousand times as fast as time, and so is in milliseconds. Only if
 * all pairs of an agent's reports agree: each replica behind one address has an uptime of its own.
 */
export function uptimesNotInSeconds(reports: readonly JudgedResponse[]): ReadonlySet<Exchange> {
  const uptimes = reports.flatMap(({ exchange, root }): Uptime[] => {
    const uptime = getPath(root, "uptime");
    return typeof uptime === "number" ? [{ exchange, uptime }] : [];
  });
  const pairsByAgent = [...Map.groupBy(uptimes, ({ exchange }) => agentInPath(exchange)).values()].map(comparedPairs);
  const inMilliseconds = pairsByAgent.filter((pairs) => pairs.length >= minPairs && pairs.every(risesByMilliseconds));
  return new Set(inMilliseconds.flat().map(([, { exchange }]) => exchange));
}

/** Pairs each report with the next one whose uptime differs and that came late enough. */
function comparedPairs(uptimes: readonly Uptime[]): UptimePair[] {
  const sorted = uptimes.toSorted((one, other) => one.exchange.sentMs - other.exchange.sentMs);
  const pairs: UptimePair[] = [];
  let from = sorted[0];
  for (const to of sorted.slice(1)) {
    // Equal uptimes prove nothing: they may be rounded, or the test clock may have stood still.
    if (from === undefined || elapsedMs([from, to]).min < minUptimeGapMs || to.uptime === from.uptime) continue;
    pairs.push([from, to]);
    from = to;
  }
  return pairs;
}

/** Bounds of the time between two reports, by the target's clock. */
function elapsedMs([{ exchange: from }, { exchange: to }]: UptimePair): { readonly min: number; readonly max: number } {
  const advancedMs = to.clockMs - from.clockMs;
  return {
    min: to.sentMs - from.answer.endMs + advancedMs,
    max: to.answer.endMs - from.sentMs + advancedMs,
  };
}

function risesByMilliseconds(pair: UptimePair): boolean {
  const risen = pair[1].uptime - pair[0].uptime;
  const { min, max } = elapsedMs(pair);
  return risen >= (minMillisecondRate * min) / 1000 && risen <= (maxMillisecondRate * max) / 1000;
}
