import { healthCornerChecks } from "../coverage/checks.ts";
import { formatValue, getPath, isObject } from "../../base/json.ts";
import { memoizeByPair } from "../../base/memoize.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { negativeQuantity } from "../../rules/bodies/fields.ts";
import { healthBodyClauses } from "../../rules/bodies/rules.ts";
import type { Mismatch } from "../../rules/bodies/errors.ts";
import { type Check, check, checkEvery, suite } from "../../run/judge/check.ts";
import { breach, type Finding, follows, holds, type Unproven, unproven } from "../../run/judge/finding.ts";
import { need } from "../../run/skip-reason.ts";
import { healthStatuses } from "../../spec/events-and-errors.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import {
  bodyCases,
  checkEverySuccess,
  checkFields,
  fieldMatrix,
  type JudgedResponse,
  responseMatrix,
} from "../shared/cases.ts";
import { judgeRejection } from "../shared/acceptance.ts";
import { hasStatus, outcomeOf } from "../shared/response.ts";
import { changingValueChecks, exchangesWithUptimeInMs, mixedUnitsCheck } from "./changing-values.ts";
import { lastRequestCheck } from "./last-request.ts";
import { degradedChecked, healthChecked, laterChecked, unhealthyChecked, unknownChecked } from "./probes.ts";

const reported = (exchange: Exchange, ...path: readonly string[]): unknown => getPath(bodyJson(exchange), ...path);

/** Whether a response is a health report. A server may report an unhealthy agent with a 5xx status. */
const isReport = (exchange: Exchange): boolean =>
  hasStatus(exchange, 200) ||
  ((statusOf(exchange) ?? 0) >= 500 && healthStatuses.some((each) => each === reported(exchange, "status")));

function missingReport(exchange: Exchange): Unproven | null {
  if (!isReport(exchange)) return unproven(`there is no health report (${outcomeOf(exchange)})`);
  return isObject(bodyJson(exchange)) ? null : unproven("the health report is no JSON object");
}

const checkField = (clause: (typeof healthBodyClauses)[number]): Check =>
  checkFields(
    clause,
    { all: allExchanges, healthChecked, laterChecked },
    {
      table: "health",
      members: ({ all }) => {
        const reports = bodyCases("health", all, isReport);
        const wrong = clause === "HLT-8" ? exchangesWithUptimeInMs(reports.map(({ subject }) => subject)) : new Set();
        return reports.map((each) => ({ ...each, subject: withUnit(each.subject, wrong.has(each.subject.exchange)) }));
      },
      judge: ({ root, hasOtherUnit }) =>
        hasOtherUnit
          ? {
              expected: "`uptime`, in seconds",
              actual: `${formatValue(getPath(root, "uptime"))}, which rose a thousand times as fast as time`,
            }
          : null,
      whenEmpty: ({ healthChecked: { first } }) =>
        missingReport(first) ?? unproven("the object that should have the field is missing"),
    },
  );

const withUnit = memoizeByPair((response: JudgedResponse, hasOtherUnit: boolean) => ({ ...response, hasOtherUnit }));

const failedStatus = /^(unhealthy|fail(ed|s|ing|ure)?)$/i;
/**
 * Matches statuses that mean trouble and that {@link failedStatus} lacks. Omits `slow`, which the document names but
 * does not explain.
 */
const troubledStatus = /^(degraded|warn(ing)?|error|down|critical|unavailable|unreachable|offline|dead)$/i;

function findCheck(report: unknown, words: RegExp): string | null {
  const dependencies = getPath(report, "checks", "dependencies");
  const statuses: (readonly [string, unknown])[] = [
    ["agent", getPath(report, "checks", "agent", "status")],
    ...(isObject(dependencies) ? Object.entries(dependencies) : []),
  ];
  const found = statuses.find(([, status]) => typeof status === "string" && words.test(status.trim()));
  return found === undefined ? null : `${found[0]}: ${String(found[1])}`;
}

const checkHealthyWithout = (clause: "HLT-13" | "HLT-23", words: RegExp): Check =>
  checkEvery(
    clause,
    { all: allExchanges, healthChecked },
    {
      matrix: fieldMatrix("health"),
      members: ({ all }) => bodyCases("health", all, isReport),
      judge: ({ root }) => {
        if (getPath(root, "status") !== "healthy") return undefined;
        const failed = findCheck(root, words);
        return failed === null
          ? null
          : { expected: "no failed check in a report with the status `healthy`", actual: failed };
      },
      whenEmpty: unproven("no report has the status `healthy`"),
    },
  );

function excessivePercentage(report: unknown): Mismatch | null {
  const resources = getPath(report, "checks", "resources");
  const name = ["memory_usage_percent", "cpu_usage_percent"].find(
    (each) => Number(getPath(resources, each) ?? 0) > 100,
  );
  return name === undefined
    ? null
    : { expected: `\`${name}\` is 100 at most`, actual: formatValue(getPath(resources, name)) };
}

const warningsOf = (exchange: Exchange): unknown => reported(exchange, "warnings") ?? undefined;

/** Judges HLT-21: `warnings` is empty for a healthy agent, and not empty for a degraded agent. */
function judgeWarnings(exchange: Exchange): Finding<never> {
  const warnings = warningsOf(exchange);
  const isEmpty = warnings === undefined || (Array.isArray(warnings) && warnings.length === 0);
  const status = reported(exchange, "status");
  if (status === "healthy")
    return isEmpty ? holds() : breach("no `warnings` for a healthy agent", formatValue(warnings), exchange);
  if (status !== "degraded") return unproven(`the agent is neither healthy nor degraded (${formatValue(status)})`);
  if (warnings === undefined) return unproven("the report has no `warnings`; see HLT-14");
  return isEmpty ? breach("a warning, as the agent is degraded", formatValue(warnings), exchange) : holds();
}

const isDegraded = (exchange: Exchange): boolean => reported(exchange, "status") === "degraded";

const roundingSeconds = 1;

export const health = suite("Health check", [
  check("HLT-1", healthChecked, ({ first, second }) => {
    const failed = [first, second].find((each) => !hasStatus(each, 200));
    return failed === undefined ? holds() : breach("200", outcomeOf(failed), failed);
  }),
  checkEverySuccess("HLT-1", "health"),
  ...healthBodyClauses.map(checkField),
  check("HLT-11", degradedChecked, ({ report }) =>
    isDegraded(report)
      ? holds()
      : breach("`status` is `degraded`", `${formatValue(reported(report, "status"))} (${outcomeOf(report)})`, report),
  ),
  check("HLT-12", unhealthyChecked, ({ report }) => {
    const status = reported(report, "status");
    if (status !== "unhealthy")
      return breach("`status` is `unhealthy`", `${formatValue(status)} (${outcomeOf(report)})`, report);
    return follows((statusOf(report) ?? 0) >= 500 ? "answers-5xx" : "answers-200");
  }),
  checkHealthyWithout("HLT-13", failedStatus),
  checkHealthyWithout("HLT-23", troubledStatus),
  checkEvery(
    "HLT-14",
    { all: allExchanges },
    {
      also: [degradedChecked, healthChecked],
      matrix: responseMatrix("every health report that says `degraded`", [
        { of: "health", kind: "200", reach: need("agents.degraded") },
      ]),
      members: ({ all }) => bodyCases("health", all, isReport),
      judge: ({ exchange }) => {
        if (!isDegraded(exchange)) return undefined;
        return warningsOf(exchange) === undefined
          ? { expected: "`warnings`, as the agent is degraded", actual: formatValue(warningsOf(exchange)) }
          : null;
      },
      whenEmpty: unproven("no report has the status `degraded`; see HLT-11", need("agents.degraded")),
    },
  ),
  check("HLT-21", healthChecked, ({ first }) => judgeWarnings(first)),
  check(
    "HLT-21",
    degradedChecked,
    ({ report }) =>
      isDegraded(report)
        ? judgeWarnings(report)
        : unproven("the report does not have the status `degraded`; see HLT-11"),
    { as: "degraded" },
  ),
  check("HLT-17", healthChecked, ({ first, second }) => {
    const [before, after] = [first, second].map((each) => reported(each, "uptime"));
    if (typeof before !== "number" || typeof after !== "number") return unproven("the reports have no `uptime`");
    return after < before - roundingSeconds
      ? breach("`uptime` does not fall", `${before}, then ${after}`, first, second)
      : holds();
  }),
  checkEvery(
    "HLT-17",
    { all: allExchanges, healthChecked },
    {
      as: "ranges",
      matrix: fieldMatrix("health"),
      members: ({ all }) => bodyCases("health", all, isReport),
      judge: ({ root }) => excessivePercentage(root) ?? negativeQuantity("health", root),
      whenEmpty: unproven("no report has a quantity"),
    },
  ),
  check("HLT-18", { known: healthChecked, unknown: unknownChecked }, ({ known, unknown: { report } }) =>
    judgeRejection(report, {
      status: 404,
      code: "AGENT_NOT_FOUND",
      control: known.first,
      isControlAccepted: isReport(known.first),
    }),
  ),
  check("HLT-20", healthChecked, ({ first }) => {
    const missing = missingReport(first);
    if (missing !== null) return missing;
    const checks = reported(first, "checks");
    if (!isObject(checks)) return unproven("`checks` is no object");
    const names = Object.keys(checks);
    if (names.length === 0) return unproven("`checks` is empty");
    return names.some((name) => ["agent", "dependencies", "resources"].includes(name))
      ? holds()
      : breach("`agent`, `dependencies` or `resources` in `checks`", names.join(", "), first);
  }),
  ...changingValueChecks,
  lastRequestCheck,
  mixedUnitsCheck,
  ...healthCornerChecks,
]);
