import { z } from "zod";

import { is2xx } from "../../base/http-status.ts";
import { getPath } from "../../base/json.ts";
import { endpointFields } from "../../evidence/envelope.ts";

/** One of the two counts of a usage report. */
const countedSchema = z.looseObject({ used: z.int(), limit: z.int(), remaining: z.int() });
export type UsageCount = z.infer<typeof countedSchema>;

const fields = ["period", "requests", "tokens"] as const;

/** Returns the object with the fields of a `GET /usage` body, in either published shape. */
export const usageFields = (body: unknown): unknown => endpointFields(body, fields);

/** A field of a `GET /usage` body; `undefined` if absent. */
export const usageField = (body: unknown, name: (typeof fields)[number]): unknown => getPath(usageFields(body), name);

/** A count of a usage report; `null` if it is not complete (USE-3, USE-4). */
export function usageCountIn(body: unknown, name: "requests" | "tokens"): UsageCount | null {
  const parsed = countedSchema.safeParse(usageField(body, name));
  return parsed.success ? parsed.data : null;
}

/** The lowest and the highest growth of a count that two reads may show. */
export interface GrowthBounds {
  readonly min: number;
  readonly max: number;
}

/**
 * How a count changed between two reads (USE-7, USE-8). `begun again`: the count fell, or its limit changed, so the
 * reads may belong to different windows.
 */
export interface Growth {
  readonly kind: "agrees" | "short" | "beyond" | "begun again";
  readonly grown: number;
}

export function growthOf(before: UsageCount, after: UsageCount, { min, max }: GrowthBounds): Growth {
  const grown = after.used - before.used;
  if (grown < 0 || before.limit !== after.limit) return { kind: "begun again", grown };
  if (grown < min) return { kind: "short", grown };
  return { kind: grown > max ? "beyond" : "agrees", grown };
}

/** An invoke or a stream, with the tokens that its response reports; `null` if it reports none. */
interface AgentCall {
  readonly status: number | null;
  readonly tokens: number | null;
}

/**
 * Returns the bounds on the growth of `tokens.used`. `max` is infinite if one of the calls may have used tokens without
 * reporting them.
 */
export function tokensUsedBy(calls: readonly AgentCall[]): GrowthBounds {
  const reportedTokens = (those: readonly AgentCall[]): number =>
    those.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0);
  const areAllReported = calls.every(({ status, tokens }) => tokens !== null || isRefusedWith(status));
  return {
    min: reportedTokens(calls.filter(({ status }) => is2xx(status))),
    max: areAllReported ? reportedTokens(calls) : Infinity,
  };
}

/** A rejected request did not reach its agent. */
const isRefusedWith = (status: number | null): boolean => status !== null && status >= 400 && status < 500;
