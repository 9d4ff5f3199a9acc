import { z } from "zod";

import { is2xx } from "../../base/http-status.ts";
import { getPath } from "../../base/json.ts";
import { endpointFields } from "../../evidence/envelope.ts";

/** One of the two counts of a usage report. */
const countedSchema = z.looseObject({ used: z.int(), limit: z.int(), remaining: z.int() });
export type UsageCount = z.infer<typeof countedSchema>;

const fields = ["period", "requests", "tokens"] as const;

/** What holds the fields of the body of `GET /usage`, in either published shape. */
export const usageFields = (body: unknown): unknown => endpointFields(body, fields);

/** A field of the body of `GET /usage`; `undefined` where it is not there. */
export const usageField = (body: unknown, name: (typeof fields)[number]): unknown => getPath(usageFields(body), name);

/** A count of a usage report; `null` where it is not all there (USE-3, USE-4). */
export function usageCountIn(body: unknown, name: "requests" | "tokens"): UsageCount | null {
  const parsed = countedSchema.safeParse(usageField(body, name));
  return parsed.success ? parsed.data : null;
}

/** By how much a count must have grown between two readings, and may have. */
export interface GrowthBounds {
  readonly min: number;
  readonly max: number;
}

/**
 * What a count did between two readings (USE-7, USE-8). `begun again`: it fell, or tells of another limit, so that the two do not compare; which window
 * the report speaks of is open.
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

/** An invoke or a stream, with the tokens that its answer tells; `null` where it does not. */
interface Turn {
  readonly status: number | null;
  readonly tokens: number | null;
}

/** What `tokens.used` must grow by for these; `most` is infinite where one of them may have used some and does not tell. */
export function tokensUsedBy(turns: readonly Turn[]): GrowthBounds {
  const told = (those: readonly Turn[]): number => those.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0);
  const isAllTold = turns.every(({ status, tokens }) => tokens !== null || isRefusedWith(status));
  return { min: told(turns.filter(({ status }) => is2xx(status))), max: isAllTold ? told(turns) : Infinity };
}

/** A request that was refused did not reach its agent. */
const isRefusedWith = (status: number | null): boolean => status !== null && status >= 400 && status < 500;
