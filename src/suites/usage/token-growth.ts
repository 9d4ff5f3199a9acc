import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import {
  type UsageCount,
  usageCountIn,
  type Growth,
  type GrowthBounds,
  growthOf,
  tokensUsedBy,
} from "../../rules/limits/usage-report.ts";
import { isSuccess, reportedTokens } from "../shared/response.ts";

/** Two reads of usage, and the agent calls between them. */
export interface TokenGrowth {
  readonly usage: Exchange;
  readonly later: Exchange;
  /** Invokes and streams between the reads. */
  readonly turns: readonly Exchange[];
  /** Whether the key was unused before the run, so that no one else uses it either. */
  readonly isFresh: boolean;
}

/** A count of a usage report; `null` if there is no report. */
export const usageCountOf = (exchange: Exchange, name: "requests" | "tokens"): UsageCount | null =>
  isSuccess(exchange) ? usageCountIn(bodyJson(exchange), name) : null;

/** Measured and required growth of the month's tokens; `null` if a read has no tokens. */
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
 * Measures, and once more if usage grew by too much: an earlier request whose client disconnected may have been charged
 * between the reads. By the second measurement it has ended.
 */
export async function remeasureIfDisturbed<T extends TokenGrowth>(measure: () => Promise<T>): Promise<T> {
  const first = await measure();
  return tokenGrowth(first)?.kind === "beyond" ? measure() : first;
}
