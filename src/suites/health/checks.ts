import { z } from "zod";

import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { healthStatuses } from "../../interface/events.ts";
import { check, suite } from "../../run/check.ts";
import { breach, follows, holds, unproven } from "../../run/finding.ts";
import { invoked } from "../invoke/probes.ts";
import { judgeRefusal } from "../answers/refusal.ts";
import { hasOtherBody, hasStatus, member, misshapen, outcomeOf, show } from "../answers/shape.ts";
import { isObject } from "../../base/json.ts";
import { isTimestamp } from "../answers/timestamps.ts";
import { degradedChecked, healthChecked, laterChecked, unhealthyChecked, unknownChecked } from "./probes.ts";
import { movingChecks } from "./moving.ts";
import { warningChecks } from "./warnings.ts";

/** Whether a health report came: with 200, or, of an unhealthy agent, with a 5xx status. */
const isReport = (exchange: Exchange): boolean =>
  hasStatus(exchange, 200) ||
  ((statusOf(exchange) ?? 0) >= 500 && healthStatuses.some((each) => each === member(bodyJson(exchange), "status")));

/** What keeps the fields of a report from being judged; `null` where nothing does. */
const withoutReport = (exchange: Exchange) => {
  if (!isReport(exchange)) return unproven(`the health report did not come (${outcomeOf(exchange)})`);
  return isObject(bodyJson(exchange)) ? null : unproven("the health report is no JSON object");
};

/** Judges a field that may be left out: absent, or of its shape. */
function optionalField(exchange: Exchange, schema: z.ZodType, path: readonly string[]) {
  const unable = withoutReport(exchange);
  if (unable !== null) return unable;
  const body = bodyJson(exchange);
  const holder = path.slice(0, -1);
  if (holder.length > 0 && !isObject(member(body, ...holder))) return unproven(`\`${holder.join(".")}\` is no object`);
  const value = member(body, ...path);
  if (value === undefined || value === null) return follows("absent");
  return misshapen(schema, value, `\`${path.join(".")}\``, exchange) ?? follows("present");
}

const number = z.number();
const string = z.string();

const timestamp = string.refine(isTimestamp, "an ISO 8601 timestamp");

/** The optional fields of a report, by the clause that each is judged by. */
const optionalFields = [
  ["HLT-4", z.looseObject({ status: string.nullish(), response_time_ms: number.nullish() }), ["checks", "agent"]],
  ["HLT-5", z.record(string, string.nullable()), ["checks", "dependencies"]],
  [
    "HLT-6",
    z.looseObject({ memory_usage_percent: number.nullish(), cpu_usage_percent: number.nullish() }),
    ["checks", "resources"],
  ],
  ["HLT-7", string, ["version"]],
  ["HLT-8", number, ["uptime"]],
  ["HLT-9", timestamp, ["last_request"]],
  ["HLT-10", z.array(string), ["warnings"]],
] as const;

/** Words for a check that has failed; `slow` or `degraded` are warnings. */
const failedCheck = /^(unhealthy|fail(ed|ing|ure)?|error|down|critical|unavailable|unreachable|offline|dead)$/i;

/** The checks of a report that have failed, as `name: status`. */
function failedChecks(report: unknown): string[] {
  const dependencies = member(report, "checks", "dependencies");
  const statuses = [
    ["agent", member(report, "checks", "agent", "status")] as const,
    ...(isObject(dependencies) ? Object.entries(dependencies) : []),
  ];
  return statuses
    .filter(([, status]) => typeof status === "string" && failedCheck.test(status.trim()))
    .map(([name, status]) => `${name}: ${String(status)}`);
}

const percentages = ["memory_usage_percent", "cpu_usage_percent"] as const;
/** An uptime may be rounded to whole seconds. */
const roundingSeconds = 1;

export const health = suite("Health check", [
  check("HLT-1", healthChecked, ({ first, second }) => {
    const failed = [first, second].find((each) => !hasStatus(each, 200));
    return failed === undefined ? holds() : breach("200", outcomeOf(failed), failed);
  }),
  check("HLT-2", healthChecked, ({ first }) => {
    if (!hasStatus(first, 200)) return unproven(`the health report did not come (${outcomeOf(first)})`);
    if (hasOtherBody(first)) return unproven("the health report is no JSON");
    return misshapen(z.enum(healthStatuses), member(bodyJson(first), "status"), "`status`", first) ?? holds();
  }),
  check("HLT-3", healthChecked, ({ first }) => {
    const unable = withoutReport(first);
    if (unable !== null) return unable;
    const checks = member(bodyJson(first), "checks");
    return isObject(checks) ? holds() : breach("`checks`, an object", show(checks), first);
  }),
  ...optionalFields.flatMap(([clause, schema, path]) => [
    check(clause, healthChecked, ({ first }) => optionalField(first, schema, path)),
    check(clause, degradedChecked, ({ report }) => optionalField(report, schema, path), { as: "degraded" }),
    check(clause, unhealthyChecked, ({ report }) => optionalField(report, schema, path), { as: "unhealthy" }),
  ]),
  check(
    "HLT-9",
    { invoked, later: laterChecked },
    ({ later: { report } }) => optionalField(report, timestamp, ["last_request"]),
    { as: "after an invoke" },
  ),
  check("HLT-11", degradedChecked, ({ report }) => {
    const status = member(bodyJson(report), "status");
    return status === "degraded"
      ? holds()
      : breach("`status` is `degraded`", `${show(status)} (${outcomeOf(report)})`, report);
  }),
  check("HLT-12", unhealthyChecked, ({ report }) => {
    const status = member(bodyJson(report), "status");
    if (status !== "unhealthy")
      return breach("`status` is `unhealthy`", `${show(status)} (${outcomeOf(report)})`, report);
    return follows((statusOf(report) ?? 0) >= 500 ? "answers-5xx" : "answers-200");
  }),
  check("HLT-13", healthChecked, ({ first, second }) => {
    const healthy = [first, second].filter((each) => isReport(each) && member(bodyJson(each), "status") === "healthy");
    if (healthy.length === 0) return unproven("no report said `healthy`");
    for (const exchange of healthy) {
      const [failed] = failedChecks(bodyJson(exchange));
      if (failed !== undefined) return breach("no failed check in a report that says `healthy`", failed, exchange);
    }
    return holds();
  }),
  ...warningChecks,
  check("HLT-17", healthChecked, ({ first, second }) => {
    const [before, after] = [first, second].map((each) => member(bodyJson(each), "uptime"));
    const isComparable = typeof before === "number" && typeof after === "number";
    if (isComparable && after < before - roundingSeconds)
      return breach("`uptime` does not fall", `${before}, then ${after}`, first, second);
    const shares = percentages.flatMap((name) => {
      const share = member(bodyJson(first), "checks", "resources", name);
      return typeof share === "number" ? [{ name, share }] : [];
    });
    const odd = shares.find(({ share }) => share < 0 || share > 100);
    if (odd !== undefined) return breach(`\`${odd.name}\` lies between 0 and 100`, String(odd.share), first);
    return isComparable || shares.length > 0 ? holds() : unproven("the reports have neither `uptime` nor percentages");
  }),
  check("HLT-18", { known: healthChecked, unknown: unknownChecked }, ({ known, unknown: { report } }) =>
    judgeRefusal(report, {
      status: 404,
      code: "AGENT_NOT_FOUND",
      control: known.first,
      isControlAccepted: isReport(known.first),
    }),
  ),
  check("HLT-20", healthChecked, ({ first }) => {
    const unable = withoutReport(first);
    if (unable !== null) return unable;
    const checks = member(bodyJson(first), "checks");
    if (!isObject(checks)) return unproven("`checks` is no object");
    const names = Object.keys(checks);
    if (names.length === 0) return unproven("`checks` is empty");
    const known = ["agent", "dependencies", "resources"];
    return names.some((name) => known.includes(name))
      ? holds()
      : breach("`agent`, `dependencies` and `resources` in `checks`", names.join(", "), first);
  }),
  ...movingChecks,
]);
