import { cutToWidth, displayWidth, segmenter } from "./text.ts";

/**
 * Makes untrusted text safe to print. Replaces control and invisible characters by escapes such as `\x1b`, but keeps
 * `\n` and `\t`.
 */
export const sanitize = (text: string): string => text.replace(unsafeCharacters, visibleEscape);

const unsafeCharacters = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Makes JSON text safe to print. Uses JSON escapes (RFC 8259, 7), so that the parsed value stays the same. */
export const sanitizeJson = (json: string): string =>
  json.replace(unsafeCharacters, (character) =>
    Array.from({ length: character.length }, (_, at) => jsonEscape(character.charCodeAt(at))).join(""),
  );

const jsonEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;

/** Copies JSON data. Each string and member name becomes one line of limited width, without control characters. */
export function sanitizeDeep<T>(data: T): T {
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return sanitizeLine(value, maxDeepLength);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [sanitizeLine(name), walk(each)]));
  };
  return walk(data) as T;
}

const maxDeepLength = 2000;

// oxlint-disable-next-line no-control-regex -- a colour code begins with a control character
const colourCode = /(\u001b\[[\d;]*m)/;

export const sanitizeColoured = (text: string): string =>
  text
    .split(colourCode)
    .map((part, at) => (at % 2 === 1 ? part : sanitize(part)))
    .join("");

export function sanitizeLine(text: string, maxWidth = 300): string {
  const start = truncate(text, maxWidth * 2);
  const line = sanitize(start.replace(/\s+/g, " ").trim());
  const isWhole = text.slice(start.length).trim() === "";
  if (isWhole && line.length <= maxWidth * 2 && displayWidth(line) <= maxWidth) return line;
  return `${cutToWidth(truncate(line, maxWidth * 2), maxWidth - 1)}…`;
}

/**
 * Graphemes up to this length are never split. A longer grapheme can be split, because a target can put endless
 * combining marks on one letter.
 */
const maxUncutGraphemeUnits = 32;

export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return text.slice(0, graphemeAt(text.slice(0, maxLength + maxUncutGraphemeUnits), maxLength).from);
}

export function truncateStart(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const skipped = Math.max(0, text.length - maxLength - maxUncutGraphemeUnits);
  const { from, to } = graphemeAt(text.slice(skipped), text.length - maxLength - skipped);
  return text.slice(skipped + (from === text.length - maxLength - skipped ? from : to));
}

function graphemeAt(text: string, unit: number): { readonly from: number; readonly to: number } {
  const found = segmenter().segment(text).containing(unit);
  const from = found?.index ?? unit;
  const to = from + (found?.segment.length ?? 0);
  if (to - from <= maxUncutGraphemeUnits) return { from, to };
  const isSecondHalf = /^[\udc00-\udfff]/.test(text.slice(unit)) && /[\ud800-\udbff]$/.test(text.slice(0, unit));
  return isSecondHalf ? { from: unit - 1, to: unit + 1 } : { from: unit, to: unit };
}

function visibleEscape(character: string): string {
  if (character === "\r") return "\\r";
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
