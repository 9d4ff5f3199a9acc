import type { z } from "zod";

import { messageOf } from "./errors.ts";
import { findStructureProblem, type StructureRules } from "./bounded-json.ts";
import { sanitizeLine } from "./sanitize.ts";

/** The result of parsing: a value, or a problem as one line of text without a full stop. */
export type Parsed<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "problem"; readonly problem: string };

/**
 * Parses JSON, with or without a byte order mark. Returns a problem such as "is not JSON"; the caller puts the name of
 * the file before it.
 */
export const parseJson = (text: string): Parsed<unknown> => parseWith(text, { maxDepth: 1000, checksNames: false });

/** Parses JSON that a person wrote. Reports duplicate names, which `JSON.parse` would accept silently. */
export const parseHandwrittenJson = (text: string): Parsed<unknown> =>
  parseWith(text, { maxDepth: 200, checksNames: true });

function parseWith(raw: string, rules: StructureRules): Parsed<unknown> {
  const text = raw.replace(/^\uFEFF/, "");
  try {
    const value = JSON.parse(text) as unknown;
    const problem = findStructureProblem(text, rules);
    return problem === null ? { kind: "value", value } : { kind: "problem", problem: sanitizeLine(problem) };
  } catch (error) {
    return { kind: "problem", problem: sanitizeLine(`is not JSON: ${withoutQuote(messageOf(error), text)}`) };
  }
}

/** Removes the quoted input from V8's message, because the input may be secret. Adds the line number. */
function withoutQuote(message: string, text: string): string {
  const [found, quote = ""] = /, (?:\.{3})?"(.*)"(?:\.{3})? is not valid JSON$/s.exec(message) ?? [];
  if (found === undefined) return message;
  const at = text.indexOf(quote);
  const line = text.slice(0, at + Math.ceil(quote.length / 2)).split("\n").length;
  return message.slice(0, -found.length) + (at < 0 ? "" : ` in line ${line}`);
}

/** Parses a value by a schema. A problem names the first invalid place: `keys.pro.tier: Invalid option`. */
export function parseAs<T>(value: unknown, schema: z.ZodType<T>): Parsed<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { kind: "value", value: parsed.data };
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "the file" : issue.path.join(".");
  return { kind: "problem", problem: sanitizeLine(`${where}: ${issue?.message ?? "is not as it should be"}`) };
}
