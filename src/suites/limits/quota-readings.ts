import { getPath } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { usageField } from "../../rules/limits/usage-report.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";

export function tokensIn(reading: Exchange, name: "used" | "limit"): number | null {
  const value = getPath(usageField(bodyJson(reading), "tokens"), name);
  return isSuccess(reading) && typeof value === "number" ? value : null;
}

/**
 * The document shows no status for a request beyond the token quota (LIM-20). Therefore, 402, 403 and 429 all count as
 * a refusal.
 */
export const isRefusal = (exchange: Exchange): boolean => hasStatus(exchange, 402, 403, 429);
