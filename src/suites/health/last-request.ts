import { minuteMs } from "../../base/duration.ts";
import { getPath } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { hasZone, instantMsOf } from "../../rules/bodies/timestamps.ts";
import { dateSeconds, nowByReset } from "../../rules/limits/sample.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable } from "../../run/judge/finding.ts";
import { agentInPath, allExchanges, type AllExchanges, splitAtReturns, successesOf } from "../shared/all-exchanges.ts";

// This file finds `last_request` values in local time that are wrongly labelled as UTC.

/**
 * Tolerance for inaccurate clocks. The tolerance must be less than 15 minutes, the smallest difference between time
 * zones.
 */
const toleranceMs = 10 * minuteMs;

interface Report {
  readonly exchange: Exchange;
  readonly lastMs: number;
  readonly earliestMs: number;
  readonly latestMs: number;
}

function reportOf(exchange: Exchange): Report[] {
  const text = getPath(bodyJson(exchange), "last_request");
  const byReset = nowByReset(exchange);
  const lastMs = instantMsOf(text);
  if (Number.isNaN(lastMs) || !hasZone(String(text))) return [];
  // Skips a report that lacks `Reset` or `Reset-After`. Its `Date` can come from a proxy with another clock.
  if (byReset === null) return [];
  const clocksMs = [byReset, dateSeconds(exchange) ?? byReset].map((each) => each * 1000);
  return [{ exchange, lastMs, earliestMs: Math.min(...clocksMs), latestMs: Math.max(...clocksMs) }];
}

/** Returns a report's agent and deployment as text. Each deployment of an agent can have its own `last_request`. */
const sourceOf = ({ exchange }: Report): string =>
  JSON.stringify([agentInPath(exchange), getPath(bodyJson(exchange), "deployment_id")]);

/**
 * Judges that `last_request` is not after the health report that contains it. If `last_request` has increased, the new
 * value must be after the previous health report.
 */
function judgeLastRequest(all: AllExchanges): Finding<never> {
  const groups = splitAtReturns(successesOf(all, "health"), all).flatMap((each) => [
    ...Map.groupBy(each.toSorted((one, other) => one.sentMs - other.sentMs).flatMap(reportOf), sourceOf).values(),
  ]);
  if (groups.length === 0)
    return inapplicable("no health report has rate-limit headers and a `last_request` that states a minute");
  for (const reports of groups)
    for (const [at, report] of reports.entries()) {
      const before = reports[at - 1];
      if (report.lastMs > report.latestMs + toleranceMs)
        return breach(
          "`last_request` is not after the report",
          `${formatTime(report.lastMs)} at ${formatTime(report.latestMs)}`,
          report.exchange,
        );
      if (before !== undefined && isTooEarly(report, before))
        return breach(
          `a \`last_request\` that has changed since ${formatTime(before.earliestMs)} is not before that`,
          formatTime(report.lastMs),
          report.exchange,
          before.exchange,
        );
    }
  return holds();
}

const isTooEarly = (report: Report, before: Report): boolean =>
  report.lastMs > before.lastMs && report.lastMs < before.earliestMs - toleranceMs;

const formatTime = (ms: number): string => new Date(ms).toISOString();

export const lastRequestCheck: Check = check("HLT-9", allExchanges, judgeLastRequest, {
  as: "time of a request",
  since: "1.2",
});
