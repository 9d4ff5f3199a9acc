import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { moreTime } from "../../run/skip-reason.ts";
import { agentInPath, endpointOf, allExchanges, type AllExchanges } from "../shared/all-exchanges.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { isTimestamp } from "../../rules/bodies/timestamps.ts";
import { type StreamAccounted, streamAccounted } from "../usage/probes.ts";
import { healthChecked, laterChecked } from "./probes.ts";

/** Minimum time between two reports: some servers report both fields in whole seconds. */
const leastMs = 3000;

/** When a request was sent, by the target's clock. */
const sentAt = ({ sentMs, clockMs }: Exchange): number => sentMs + clockMs;

/** A time field of a report; `undefined` if it is absent or has the wrong type, which another clause judges. */
function fieldOf(exchange: Exchange, name: "uptime" | "last_request"): unknown {
  const value = getPath(bodyJson(exchange), name);
  const isTold = name === "uptime" ? typeof value === "number" : typeof value === "string" && isTimestamp(value);
  return isTold ? value : undefined;
}

/** The first and the last report that have a field; `null` if they are too close together to differ. */
function endsOf(reports: readonly Exchange[], name: "uptime" | "last_request"): readonly [Exchange, Exchange] | null {
  const having = reports.filter((each) => fieldOf(each, name) !== undefined);
  const [first, last] = [having[0], having.at(-1)];
  return first !== undefined && last !== undefined && sentAt(last) - sentAt(first) >= leastMs ? [first, last] : null;
}

/** Judges that reports change: `uptime` with time, `last_request` with each request. */
export function judgeChangingValues({ exchanges }: AllExchanges, agent: string | null): Finding<never> {
  const own = exchanges
    .filter((each) => agentInPath(each) === agent)
    .toSorted((one, other) => sentAt(one) - sentAt(other));
  const reports = own.filter((each) => endpointOf(each) === "health" && hasStatus(each, 200));
  const uptimes = endsOf(reports, "uptime");
  if (uptimes !== null && fieldOf(uptimes[0], "uptime") === fieldOf(uptimes[1], "uptime"))
    return breach("an `uptime` that goes on", `${formatValue(fieldOf(uptimes[0], "uptime"))} throughout`, ...uptimes);
  const requests = endsOf(reports, "last_request");
  const isUsed = requests !== null && own.some((each) => isInvokeBetween(each, requests));
  if (isUsed && fieldOf(requests[0], "last_request") === fieldOf(requests[1], "last_request"))
    return breach(
      "a `last_request` that goes on with each request",
      `${formatValue(fieldOf(requests[0], "last_request"))} throughout`,
      ...requests,
    );
  return uptimes === null && !isUsed
    ? unproven("no two reports that have `uptime` or `last_request` lie some seconds apart", moreTime)
    : holds();
}

/** Whether an exchange is a successful invoke between two reports, late enough after the first that whole seconds differ. */
const isInvokeBetween = (each: Exchange, [first, last]: readonly [Exchange, Exchange]): boolean =>
  endpointOf(each) === "invoke" &&
  isSuccess(each) &&
  sentAt(each) - sentAt(first) >= leastMs &&
  each.answer.endMs <= last.sentMs;

/** Judges that a stream changes `last_request`, as any request does. */
export function judgeStreamChanges({ reports, streamed }: StreamAccounted): Finding<never> {
  if (!isSuccess(streamed)) return unproven("the agent did not stream");
  const [before, after] = reports.map((each) => fieldOf(each, "last_request"));
  if (before === undefined || after === undefined) return unproven("the reports do not tell of the last request");
  return before === after
    ? breach("a `last_request` that goes on with a stream", formatValue(after), ...reports, streamed)
    : holds();
}

export const changingValueChecks: readonly Check[] = [
  check("HLT-22", { all: allExchanges, first: healthChecked, later: laterChecked }, ({ all, first }) =>
    judgeChangingValues(all, agentInPath(first.first)),
  ),
  check("HLT-22", streamAccounted, judgeStreamChanges, { as: "stream" }),
];
