import { getPath, isObject } from "../../base/json.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { healthStatuses } from "../../spec/events.ts";
import { type Unproven, unproven } from "../../run/judge/finding.ts";
import { hasStatus, outcomeOf } from "../shared/response.ts";

/** Whether a response is a health report. The report of an unhealthy agent may have a 5xx status. */
export const isReport = (exchange: Exchange): boolean =>
  hasStatus(exchange, 200) ||
  ((statusOf(exchange) ?? 0) >= 500 && healthStatuses.some((each) => each === getPath(bodyJson(exchange), "status")));

/** Says why the fields of a report cannot be judged; `null` if they can. */
export function missingReport(exchange: Exchange): Unproven | null {
  if (!isReport(exchange)) return unproven(`the health report did not come (${outcomeOf(exchange)})`);
  return isObject(bodyJson(exchange)) ? null : unproven("the health report is no JSON object");
}
