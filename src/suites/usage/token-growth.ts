import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import {
  type UsageCount,
  usageCountIn,
  type Growth,
  type GrowthBounds,
  growthOf,
  tokensUsedBy,
} from "../../rules/limits/usage-report.ts";
import { reportedTokens } from "../shared/tokens.ts";
import { isSuccess } from "../shared/response.ts";

/** Two readings of usage, and the turns between them. */
export interface TokenGrowth {
  readonly usage: Exchange;
  readonly later: Exchange;
  /** Invokes and streams that were answered between the readings. */
  readonly turns: readonly Exchange[];
  /** Whether the run is the first to use the key, so that nobody else's use comes in between. */
  readonly isFresh: boolean;
}

/** A count of a usage report that was read; `null` where it did not come. */
export const usageCountOf = (exchange: Exchange, name: "requests" | "tokens"): UsageCount | null =>
  isSuccess(exchange) ? usageCountIn(bodyJson(exchange), name) : null;

/** What a month's tokens grew by, and had to; `null` where the readings do not tell. */
export function tokenGrowth({
  usage,
  later,
  turns,
  isFresh,
}: TokenGrowth): (Growth & GrowthBounds & { readonly remaining: number }) | null {
  const [before, after] = [usageCountOf(usage, "tokens"), usageCountOf(later, "tokens")];
  if (before === null || after === null) return null;
  const told = tokensUsedBy(turns.map((turn) => ({ status: statusOf(turn), tokens: reportedTokens(turn) })));
  const bounds = isFresh ? told : { ...told, most: Infinity };
  return { ...growthOf(before, after, bounds), ...bounds, remaining: after.remaining };
}

/**
 * Measures; where more was used than was told, once more. A request whose connection broke before the readings may be charged between them, and an
 * agent that nobody listens to any more may go on for a while: the second time that is over.
 */
export async function remeasureIfDisturbed<T extends TokenGrowth>(measure: () => Promise<T>): Promise<T> {
  const first = await measure();
  return tokenGrowth(first)?.kind === "beyond" ? measure() : first;
}
