import { z } from "zod";

import { is2xx } from "../base/http-status.ts";
import { member } from "../base/json.ts";
import { fieldsIn } from "../evidence/envelope.ts";

/** One of the two counts of a usage report. */
const countedSchema = z.looseObject({ used: z.int(), limit: z.int(), remaining: z.int() });
export type CountedUse = z.infer<typeof countedSchema>;

const fields = ["period", "requests", "tokens"] as const;

/** What holds the fields of the body of `GET /usage`, in either published shape. */
export const usageFields = (body: unknown): unknown => fieldsIn(body, fields);

/** A field of the body of `GET /usage`; `undefined` where it is not there. */
export const usageField = (body: unknown, name: (typeof fields)[number]): unknown => member(usageFields(body), name);

/** A count of a usage report; `null` where it is not all there (USE-3, USE-4). */
export function countedIn(body: unknown, name: "requests" | "tokens"): CountedUse | null {
  const parsed = countedSchema.safeParse(usageField(body, name));
  return parsed.success ? parsed.data : null;
}

/** By how much a count must have grown between two readings, and may have. */
export interface GrowthBounds {
  readonly least: number;
  readonly most: number;
}

/**
 * What a count did between two readings (USE-7, USE-8). `begun again`: it fell, or tells of another limit, so that the two do not compare; which window
 * the report speaks of is open.
 */
export interface Growth {
  readonly kind: "agrees" | "short" | "beyond" | "begun again";
  readonly grown: number;
}

export function growthOf(before: CountedUse, after: CountedUse, { least, most }: GrowthBounds): Growth {
  const grown = after.used - before.used;
  if (grown < 0 || before.limit !== after.limit) return { kind: "begun again", grown };
  if (grown < least) return { kind: "short", grown };
  return { kind: grown > most ? "beyond" : "agrees", grown };
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
  return { least: told(turns.filter(({ status }) => is2xx(status))), most: isAllTold ? told(turns) : Infinity };
}

/** A request that was refused did not reach its agent. */
const isRefusedWith = (status: number | null): boolean => status !== null && status >= 400 && status < 500;
