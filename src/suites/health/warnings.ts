import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/finding.ts";
import { member, show } from "../answers/shape.ts";
import { degradedChecked, healthChecked } from "./probes.ts";

const statusOf = (exchange: Exchange): unknown => member(bodyJson(exchange), "status");
const warningsOf = (exchange: Exchange): unknown => member(bodyJson(exchange), "warnings") ?? undefined;

/** Judges that `warnings` is there when the agent is degraded. */
function judgePresence(exchange: Exchange): Finding<never> {
  return warningsOf(exchange) === undefined
    ? breach("`warnings`, as the agent is degraded", show(warningsOf(exchange)), exchange)
    : holds();
}

/** Judges that `warnings` warns of something when the agent is degraded, and of nothing when it is healthy. */
function judgeContent(exchange: Exchange): Finding<never> {
  const warnings = warningsOf(exchange);
  const isEmpty = warnings === undefined || (Array.isArray(warnings) && warnings.length === 0);
  const status = statusOf(exchange);
  if (status === "healthy")
    return isEmpty ? holds() : breach("no `warnings` of an agent that is healthy", show(warnings), exchange);
  if (status !== "degraded") return unproven(`the agent is neither healthy nor degraded (${show(status)})`);
  if (warnings === undefined) return unproven("the report has no `warnings`; see HLT-14");
  return isEmpty ? breach("a warning, as the agent is degraded", show(warnings), exchange) : holds();
}

const isDegraded = (exchange: Exchange): boolean => statusOf(exchange) === "degraded";
const notDegraded = () => unproven("the report does not say `degraded`; see HLT-11");

/** Checks of the warnings of a report. */
export const warningChecks: readonly Check[] = [
  check("HLT-14", degradedChecked, ({ report }) => (isDegraded(report) ? judgePresence(report) : notDegraded())),
  check(
    "HLT-14",
    healthChecked,
    ({ first }) => (isDegraded(first) ? judgePresence(first) : inapplicable("the agent that answers is not degraded")),
    { as: "of the agent that answers" },
  ),
  check("HLT-21", healthChecked, ({ first }) => judgeContent(first)),
  check("HLT-21", degradedChecked, ({ report }) => (isDegraded(report) ? judgeContent(report) : notDegraded()), {
    as: "degraded",
  }),
];
