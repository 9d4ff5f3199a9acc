import { z } from "zod";

import { is2xx } from "../../base/http.ts";
import { getPath } from "../../base/json.ts";
import { endpointFields } from "../../evidence/exchange.ts";

const usageCountSchema = z.looseObject({ used: z.int(), limit: z.int(), remaining: z.int() });
export type UsageCount = z.infer<typeof usageCountSchema>;

const fields = ["period", "requests", "tokens"] as const;

export const usageFields = (body: unknown): unknown => endpointFields(body, fields);

export const usageField = (body: unknown, name: (typeof fields)[number]): unknown => getPath(usageFields(body), name);

export function usageCountIn(body: unknown, name: "requests" | "tokens"): UsageCount | null {
  const parsed = usageCountSchema.safeParse(usageField(body, name));
  return parsed.success ? parsed.data : null;
}

export interface GrowthBounds {
  readonly min: number;
  readonly max: number;
}

/**
 * Growth of `used` between two usage reports. `short`: less than expected. `beyond`: more. `begun again`: `used` fell
 * or `limit` changed, e.g. in a new month.
 */
export interface UsageCountChange {
  readonly kind: "agrees" | "short" | "beyond" | "begun again";
  readonly grown: number;
}

export function growthOf(before: UsageCount, after: UsageCount, { min, max }: GrowthBounds): UsageCountChange {
  const grown = after.used - before.used;
  if (grown < 0 || before.limit !== after.limit) return { kind: "begun again", grown };
  if (grown < min) return { kind: "short", grown };
  return { kind: grown > max ? "beyond" : "agrees", grown };
}

interface AgentCall {
  readonly status: number | null;
  readonly tokens: number | null;
}

export function tokenGrowthBounds(calls: readonly AgentCall[]): GrowthBounds {
  const reportedTokens = (those: readonly AgentCall[]): number =>
    those.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0);
  const areAllReported = calls.every(({ status, tokens }) => tokens !== null || is4xx(status));
  return {
    min: reportedTokens(calls.filter(({ status }) => is2xx(status))),
    max: areAllReported ? reportedTokens(calls) : Infinity,
  };
}

/** A 4xx response shows that no agent has run. */
const is4xx = (status: number | null): boolean => status !== null && status >= 400 && status < 500;
