import { formatValue, getPath } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { instantMsOf } from "../../rules/bodies/timestamps.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven, inapplicable } from "../../run/judge/finding.ts";
import { needsMoreTime } from "../../run/skip-reason.ts";
import { agentInPath, allExchanges, type AllExchanges, endpointOf, splitAtReturns } from "../shared/all-exchanges.ts";
import type { JudgedResponse } from "../shared/cases.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";
import { type StreamAccounted, streamAccounted } from "../usage/probes.ts";
import { healthChecked, laterChecked } from "./probes.ts";

type TimeField = "uptime" | "last_request";
type ReportPair = readonly [Exchange, Exchange];

/** Minimum time between two health responses to compare, because some servers report whole seconds. */
const minGapMs = 3000;

const sentAtMs = ({ sentMs, clockMs }: Exchange): number => sentMs + clockMs;

/**
 * Returns a lower bound of the time that passed on the target's clock. With a test clock, only its advances count,
 * because the clock can stand still otherwise.
 */
const gapMs = (first: Exchange, last: Exchange, { canAdvance = false }: AllExchanges): number =>
  canAdvance ? last.clockMs - first.clockMs : sentAtMs(last) - sentAtMs(first);

function fieldOf(exchange: Exchange, name: TimeField): unknown {
  const value = getPath(bodyJson(exchange), name);
  const isReadable = name === "uptime" ? typeof value === "number" : !Number.isNaN(instantMsOf(value));
  return isReadable ? value : undefined;
}

function firstAndLast(reports: readonly Exchange[], name: TimeField, all: AllExchanges): ReportPair | null {
  const readable = reports.filter((each) => fieldOf(each, name) !== undefined);
  const [first, last] = [readable[0], readable.at(-1)];
  return first !== undefined && last !== undefined && gapMs(first, last, all) >= minGapMs ? [first, last] : null;
}

const isConstant = ([first, last]: ReportPair, name: TimeField): boolean =>
  fieldOf(first, name) === fieldOf(last, name);

function judgeChangingValues(all: AllExchanges, agent: string | null): Finding<never> {
  const own = all.exchanges.filter((each) => agentInPath(each) === agent);
  const findings = splitAtReturns(own, all).map((exchanges) => judgeSeries(exchanges, all));
  const found = (kind: Finding["kind"]) => findings.find((each) => each.kind === kind);
  if (!own.some(hasTimeField)) return unproven("no report has an `uptime` or a `last_request`");
  return found("breach") ?? found("holds") ?? unprovenTooClose;
}

const hasTimeField = (exchange: Exchange): boolean =>
  (["uptime", "last_request"] as const).some((name) => fieldOf(exchange, name) !== undefined);

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

const isInvokeBetween = (each: Exchange, [first, last]: ReportPair, all: AllExchanges): boolean =>
  endpointOf(each) === "invoke" &&
  isSuccess(each) &&
  gapMs(first, each, all) >= minGapMs &&
  each.answer.endMs <= last.sentMs;

function judgeStreamChanges({ reports, streamed }: StreamAccounted): Finding<never> {
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

/** Minimum time between two uptimes to compare. In less time, rounding may hide how far the value rose. */
const minUptimeGapMs = 20;
/** Minimum number of compared pairs of uptimes. An advance of the test clock during a request can distort one pair. */
const minPairs = 2;
/** If `uptime` rises by 300 to 3000 per second, it counts milliseconds instead of seconds. */
const [minMillisecondRate, maxMillisecondRate] = [300, 3000];

interface Uptime {
  readonly exchange: Exchange;
  readonly uptime: number;
}

type UptimePair = readonly [Uptime, Uptime];

export function exchangesWithUptimeInMs(reports: readonly JudgedResponse[]): ReadonlySet<Exchange> {
  const uptimes = reports.flatMap(({ exchange, root }): Uptime[] => {
    const uptime = getPath(root, "uptime");
    return typeof uptime === "number" ? [{ exchange, uptime }] : [];
  });
  const pairsByAgent = [...Map.groupBy(uptimes, ({ exchange }) => agentInPath(exchange)).values()].map(comparedPairs);
  const inMilliseconds = pairsByAgent.filter((pairs) => pairs.length >= minPairs && pairs.every(risesByMilliseconds));
  return new Set(inMilliseconds.flat().map(([, { exchange }]) => exchange));
}

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

interface Start {
  readonly exchange: Exchange;
  readonly uptime: number;
  readonly atMs: number;
  readonly bySecondsMs: number;
  readonly byMillisecondsMs: number;
}

/**
 * Maximum difference of two start times that count as equal. Start times are computed from `uptime`, which a server can
 * round.
 */
const toleranceMs = 2000;
/** Minimum `uptime` to test as milliseconds, i.e. 10 s. With shorter uptimes, start times can agree by chance. */
const minUptime = 10_000;
const minInMilliseconds = 3;
const minInSeconds = 2;
/**
 * Minimum time span of the responses whose `uptime` seems to be in milliseconds. In a shorter span, seconds can look
 * like milliseconds.
 */
const minSpanMs = 60_000;

function startsOf(all: AllExchanges): Start[] {
  return all.exchanges.flatMap((exchange): Start[] => {
    if (endpointOf(exchange) !== "health" || !hasStatus(exchange, 200)) return [];
    const uptime = getPath(bodyJson(exchange), "uptime");
    if (typeof uptime !== "number") return [];
    const atMs = sentAtMs(exchange);
    return [{ exchange, uptime, atMs, bySecondsMs: atMs - 1000 * uptime, byMillisecondsMs: atMs - uptime }];
  });
}

const isAboutEqual = (one: number, other: number): boolean => Math.abs(one - other) <= toleranceMs;

interface MixedUnits {
  readonly inSeconds: readonly Start[];
  readonly inMilliseconds: readonly Start[];
}

function findMixedUnits(starts: readonly Start[]): MixedUnits | null {
  const old = starts.filter(({ uptime }) => uptime >= minUptime);
  for (const { bySecondsMs: startMs } of starts) {
    const inMilliseconds = old.filter((each) => isAboutEqual(each.byMillisecondsMs, startMs));
    if (inMilliseconds.length < minInMilliseconds) continue;
    const inSeconds = starts.filter((each) => isAboutEqual(each.bySecondsMs, startMs));
    const times = inMilliseconds.map(({ atMs }) => atMs);
    const spanMs = Math.max(...times) - Math.min(...times);
    if (inSeconds.length >= minInSeconds && spanMs >= minSpanMs) return { inSeconds, inMilliseconds };
  }
  return null;
}

export function judgeMixedUnits(all: AllExchanges): Finding<never> {
  const starts = startsOf(all);
  if (starts.length === 0) return inapplicable("no health response has an `uptime`");
  const byAgent = Map.groupBy(starts, ({ exchange }) => agentInPath(exchange));
  const found = [...byAgent.values()].map(findMixedUnits).find((each) => each !== null);
  const [seconds, milliseconds] = [found?.inSeconds[0], found?.inMilliseconds[0]];
  if (found === undefined || seconds === undefined || milliseconds === undefined) return holds();
  return breach(
    "`uptime` in seconds, in every report",
    `${found.inMilliseconds.length} reports in milliseconds, such as ${formatValue(milliseconds.uptime)}, by the start that ${found.inSeconds.length} others give in seconds, such as ${formatValue(seconds.uptime)}`,
    seconds.exchange,
    milliseconds.exchange,
  );
}

export const mixedUnitsCheck: Check = check("HLT-8", allExchanges, judgeMixedUnits, {
  as: "the same unit everywhere",
  since: "1.2",
});
