import type { z } from "zod";

import { messageOf } from "./errors.ts";
import { harmlessLine } from "./harmless.ts";

/** What a text or a value was read as, or why it cannot be: on one line, without a full stop. */
export type Parsed<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "problem"; readonly problem: string };

/** The JSON value of a text; a byte order mark before it, which editors put there, is passed over. */
export function parseJson(text: string): Parsed<unknown> {
  try {
    return { kind: "value", value: JSON.parse(text.replace(/^\uFEFF/, "")) as unknown };
  } catch (error) {
    return { kind: "problem", problem: harmlessLine(messageOf(error)) };
  }
}

/** A value as a schema has it, or the first place where it is otherwise: `keys.pro.tier: Invalid option`, or `the file: …` of the whole. */
export function parseAs<T>(value: unknown, schema: z.ZodType<T>): Parsed<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { kind: "value", value: parsed.data };
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "the file" : issue.path.join(".");
  return { kind: "problem", problem: harmlessLine(`${where}: ${issue?.message ?? "is not as it should be"}`) };
}
