import { getPath } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { usageField } from "../../rules/limits/usage-report.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";

/** Returns a number of the `tokens` object of a usage response, or `null`. */
export function tokensIn(reading: Exchange, name: "used" | "limit"): number | null {
  const value = getPath(usageField(bodyJson(reading), "tokens"), name);
  return isSuccess(reading) && typeof value === "number" ? value : null;
}

/** Whether a response may be a refusal for used-up tokens. The document names no status for it (LIM-20). */
export const isRefusal = (exchange: Exchange): boolean => hasStatus(exchange, 402, 403, 429);
