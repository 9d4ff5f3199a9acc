import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { need } from "../../run/skip-reason.ts";
import { checkEvery } from "../../run/judge/check-every.ts";
import { bodyCases } from "../shared/cases.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { responseMatrix } from "../shared/matrices.ts";
import { degradedChecked, healthChecked } from "./probes.ts";
import { isReport } from "./reports.ts";

const statusOf = (exchange: Exchange): unknown => getPath(bodyJson(exchange), "status");
const warningsOf = (exchange: Exchange): unknown => getPath(bodyJson(exchange), "warnings") ?? undefined;

/** Judges that `warnings` is empty for a healthy agent and not empty for a degraded one. */
function judgeContent(exchange: Exchange): Finding<never> {
  const warnings = warningsOf(exchange);
  const isEmpty = warnings === undefined || (Array.isArray(warnings) && warnings.length === 0);
  const status = statusOf(exchange);
  if (status === "healthy")
    return isEmpty ? holds() : breach("no `warnings` of an agent that is healthy", formatValue(warnings), exchange);
  if (status !== "degraded") return unproven(`the agent is neither healthy nor degraded (${formatValue(status)})`);
  if (warnings === undefined) return unproven("the report has no `warnings`; see HLT-14");
  return isEmpty ? breach("a warning, as the agent is degraded", formatValue(warnings), exchange) : holds();
}

const isDegraded = (exchange: Exchange): boolean => statusOf(exchange) === "degraded";
const notDegraded = () => unproven("the report does not say `degraded`; see HLT-11");

export const warningChecks: readonly Check[] = [
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
      whenEmpty: unproven("no report said `degraded`; see HLT-11", need("agents.degraded")),
    },
  ),
  check("HLT-21", healthChecked, ({ first }) => judgeContent(first)),
  check("HLT-21", degradedChecked, ({ report }) => (isDegraded(report) ? judgeContent(report) : notDegraded()), {
    as: "degraded",
  }),
];
