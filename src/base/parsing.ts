import type { z } from "zod";
import { messageOf } from "./errors.ts";
import { sanitizeLine } from "./sanitize.ts";
import { tryParseJson } from "./json.ts";

const minLongTextChars = 16 * 1024;
const maxKeptDepth = 100;

/** Parses untrusted JSON; `undefined` if it is invalid. In a long text, replaces deeply nested values by `null`. */
export function parseBoundedJson(text: string): unknown {
  const shallow = text.length > minLongTextChars ? cutDeepValues(text) : text;
  return shallow === null ? undefined : tryParseJson(shallow);
}

const opening: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d]);
/** Difference between the character codes of `[` and `]`, and also of `{` and `}`. */
const toClosing = 2;

/** Replaces values nested deeper than 100 levels by `null`. Returns `null` if the brackets do not match. */
function cutDeepValues(text: string): string | null {
  const awaited: number[] = [];
  let [result, from] = ["", 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (opening.has(code)) {
      if (awaited.length === maxKeptDepth) result += `${text.slice(from, at)}null`;
      awaited.push(code + toClosing);
    } else if (closing.has(code)) {
      if (awaited.pop() !== code) return null;
      if (awaited.length === maxKeptDepth) from = at + 1;
    }
  }
  return awaited.length === 0 ? result + text.slice(from) : null;
}

interface StructureRules {
  /** Maximum depth of nesting. Deeper values could exhaust the stack of recursive code. */
  readonly maxDepth: number;
  /** Whether a duplicate member name, or the member name `__proto__`, is a problem. */
  readonly checksNames: boolean;
}

interface Level {
  readonly names: Set<string> | null;
  expectsName: boolean;
}

const [quote, backslash, openBrace, openBracket] = [0x22, 0x5c, 0x7b, 0x5b];
const [closeBrace, closeBracket, comma] = [0x7d, 0x5d, 0x2c];

/**
 * Finds deep nesting, a duplicate name or `__proto__` in valid JSON. Returns, e.g., `has a duplicate name "id" in line
 * 3, column 5`.
 */
function findStructureProblem(text: string, { maxDepth, checksNames }: StructureRules): string | null {
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const level = levels.at(-1);
    if (code === quote) {
      const end = endOfString(text, at);
      if (level?.expectsName === true && level.names !== null) {
        const problem = nameProblem(text.slice(at, end + 1), level.names);
        if (problem !== null) return `has ${problem} in ${placeOf(text, at)}`;
        level.expectsName = false;
      }
      at = end;
    } else if (code === openBrace || code === openBracket) {
      if (levels.length === maxDepth) return `is nested deeper than ${maxDepth} levels in ${placeOf(text, at)}`;
      const isObject = code === openBrace && checksNames;
      levels.push({ names: isObject ? new Set() : null, expectsName: isObject });
    } else if (code === closeBrace || code === closeBracket) levels.pop();
    else if (code === comma && level !== undefined) level.expectsName = level.names !== null;
  }
  return null;
}

function nameProblem(quoted: string, names: Set<string>): string | null {
  const name = JSON.parse(quoted) as string;
  if (name === "__proto__") return 'the name "__proto__", which cannot be used,';
  if (names.has(name)) return `a duplicate name ${quoted}`;
  names.add(name);
  return null;
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split("\n");
  return `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  return (at - first) % 2 === 1;
}

/** The result of parsing: a value, or a problem as one line of text without a full stop. */
export type Parsed<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "problem"; readonly problem: string };

/**
 * Parses JSON, with or without a byte order mark. A problem is the end of a sentence, such as `is not JSON`: the caller
 * puts the name of the file before it.
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

/** Removes the quoted input from V8's error message, because the input may be secret. Adds the line number. */
function withoutQuote(message: string, text: string): string {
  const [found, quoted = ""] = /, (?:\.{3})?"(.*)"(?:\.{3})? is not valid JSON$/s.exec(message) ?? [];
  if (found === undefined) return message;
  const at = text.indexOf(quoted);
  const line = text.slice(0, at + Math.ceil(quoted.length / 2)).split("\n").length;
  return message.slice(0, -found.length) + (at < 0 ? "" : ` in line ${line}`);
}

/** Parses a value by a schema. A problem names the first invalid field: `keys.pro.tier: Invalid option`. */
export function parseAs<T>(value: unknown, schema: z.ZodType<T>): Parsed<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { kind: "value", value: parsed.data };
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "the file" : issue.path.join(".");
  return { kind: "problem", problem: sanitizeLine(`${where}: ${issue?.message ?? "is not as it should be"}`) };
}
