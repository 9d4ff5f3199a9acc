import { memoizeByPair } from "../../base/memoize.ts";
import { bodyJson, statusOf } from "../../evidence/exchange.ts";
import { type Check, check, suite } from "../../run/judge/check.ts";
import { breach, follows, holds, unproven } from "../../run/judge/finding.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import { checkEvery } from "../../run/judge/check-every.ts";
import { bodyCases, type JudgedResponse, judgePresence } from "../shared/cases.ts";
import { fieldMatrix } from "../shared/matrices.ts";
import { fieldMismatch, negativeQuantity } from "../../rules/bodies/fields.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import { judgeRejection } from "../shared/rejection.ts";
import { hasStatus, outcomeOf } from "../shared/response.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath, isObject } from "../../base/json.ts";
import { degradedChecked, healthChecked, laterChecked, unhealthyChecked, unknownChecked } from "./probes.ts";
import { changingValueChecks } from "./changing-values.ts";
import { isReport, missingReport } from "./reports.ts";
import { warningChecks } from "./warnings.ts";
import { uptimesNotInSeconds } from "./uptime.ts";

const fieldClauses = ["HLT-2", "HLT-3", "HLT-4", "HLT-5", "HLT-6", "HLT-7", "HLT-8", "HLT-9", "HLT-10"] as const;

/** Checks the fields of a clause on every health report of the run. */
const field = (clause: (typeof fieldClauses)[number]): Check =>
  checkEvery(
    clause,
    { all: allExchanges, healthChecked, laterChecked },
    {
      matrix: fieldMatrix("health"),
      members: ({ all }) => {
        const reports = bodyCases("health", all, isReport);
        const racing = clause === "HLT-8" ? uptimesNotInSeconds(reports.map(({ subject }) => subject)) : new Set();
        return reports.map((each) => ({
          ...each,
          subject: racingOrNot(each.subject, racing.has(each.subject.exchange)),
        }));
      },
      judge: ({ root, isRacing }) =>
        isRacing
          ? {
              expected: "`uptime`, in seconds",
              actual: `${formatValue(getPath(root, "uptime"))}, risen a thousand times as fast as time passed`,
            }
          : fieldMismatch("health", clause, root),
      whenEmpty: ({ healthChecked: { first } }) =>
        missingReport(first) ?? unproven("what holds the field is not there"),
      judgeAcross: (reports) =>
        judgePresence(
          "health",
          clause,
          reports.map(({ root }) => root),
        ),
    },
  );

const racingOrNot = memoizeByPair((seen: JudgedResponse, isRacing: boolean) => ({ ...seen, isRacing }));

/** Statuses that mean a failed check. `slow` and `degraded` are only warnings. */
const failedCheck = /^(unhealthy|fail(ed|ing|ure)?|error|down|critical|unavailable|unreachable|offline|dead)$/i;

/** The failed checks of a report, as `name: status`. */
function failedChecks(report: unknown): string[] {
  const dependencies = getPath(report, "checks", "dependencies");
  const statuses = [
    ["agent", getPath(report, "checks", "agent", "status")] as const,
    ...(isObject(dependencies) ? Object.entries(dependencies) : []),
  ];
  return statuses
    .filter(([, status]) => typeof status === "string" && failedCheck.test(status.trim()))
    .map(([name, status]) => `${name}: ${String(status)}`);
}

const percentages = ["memory_usage_percent", "cpu_usage_percent"] as const;

/** Finds a percentage above 100; `null` if there is none. */
function shareAbove(report: unknown): Mismatch | null {
  const resources = getPath(report, "checks", "resources");
  const odd = percentages.find((name) => Number(getPath(resources, name) ?? 0) > 100);
  return odd === undefined
    ? null
    : { expected: `\`${odd}\` is 100 at most`, actual: formatValue(getPath(resources, odd)) };
}

/** An uptime may be rounded to whole seconds. */
const roundingSeconds = 1;

export const health = suite("Health check", [
  check("HLT-1", healthChecked, ({ first, second }) => {
    const failed = [first, second].find((each) => !hasStatus(each, 200));
    return failed === undefined ? holds() : breach("200", outcomeOf(failed), failed);
  }),
  ...fieldClauses.map(field),
  check("HLT-11", degradedChecked, ({ report }) => {
    const status = getPath(bodyJson(report), "status");
    return status === "degraded"
      ? holds()
      : breach("`status` is `degraded`", `${formatValue(status)} (${outcomeOf(report)})`, report);
  }),
  check("HLT-12", unhealthyChecked, ({ report }) => {
    const status = getPath(bodyJson(report), "status");
    if (status !== "unhealthy")
      return breach("`status` is `unhealthy`", `${formatValue(status)} (${outcomeOf(report)})`, report);
    return follows((statusOf(report) ?? 0) >= 500 ? "answers-5xx" : "answers-200");
  }),
  checkEvery(
    "HLT-13",
    { all: allExchanges, healthChecked },
    {
      matrix: fieldMatrix("health"),
      members: ({ all }) => bodyCases("health", all, isReport),
      judge: ({ root }) => {
        if (getPath(root, "status") !== "healthy") return undefined;
        const [failed] = failedChecks(root);
        return failed === undefined
          ? null
          : { expected: "no failed check in a report that says `healthy`", actual: failed };
      },
      whenEmpty: unproven("no report said `healthy`"),
    },
  ),
  ...warningChecks,
  check("HLT-17", healthChecked, ({ first, second }) => {
    const [before, after] = [first, second].map((each) => getPath(bodyJson(each), "uptime"));
    const isComparable = typeof before === "number" && typeof after === "number";
    if (isComparable && after < before - roundingSeconds)
      return breach("`uptime` does not fall", `${before}, then ${after}`, first, second);
    return isComparable ? holds() : unproven("the reports have no `uptime`");
  }),
  checkEvery(
    "HLT-17",
    { all: allExchanges, healthChecked },
    {
      as: "ranges",
      matrix: fieldMatrix("health"),
      members: ({ all }) => bodyCases("health", all, isReport),
      judge: ({ root }) => shareAbove(root) ?? negativeQuantity("health", root),
      whenEmpty: unproven("no report tells a quantity"),
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
    const unable = missingReport(first);
    if (unable !== null) return unable;
    const checks = getPath(bodyJson(first), "checks");
    if (!isObject(checks)) return unproven("`checks` is no object");
    const names = Object.keys(checks);
    if (names.length === 0) return unproven("`checks` is empty");
    const known = ["agent", "dependencies", "resources"];
    return names.some((name) => known.includes(name))
      ? holds()
      : breach("`agent`, `dependencies` and `resources` in `checks`", names.join(", "), first);
  }),
  ...changingValueChecks,
]);
