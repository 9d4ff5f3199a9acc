import { isObject } from "../../base/json.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { healthStatuses } from "../../spec/events.ts";
import { type Unproven, unproven } from "../../run/judge/finding.ts";
import { hasStatus, member, outcomeOf } from "../shared/response.ts";

/** Whether a health report came: with 200, or, of an unhealthy agent, with a 5xx status. */
export const isReport = (exchange: Exchange): boolean =>
  hasStatus(exchange, 200) ||
  ((statusOf(exchange) ?? 0) >= 500 && healthStatuses.some((each) => each === member(bodyJson(exchange), "status")));

/** What keeps the fields of a report from being judged; `null` where nothing does. */
export function missingReport(exchange: Exchange): Unproven | null {
  if (!isReport(exchange)) return unproven(`the health report did not come (${outcomeOf(exchange)})`);
  return isObject(bodyJson(exchange)) ? null : unproven("the health report is no JSON object");
}
