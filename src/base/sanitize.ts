import { cutToWidth, displayWidth } from "./display-width.ts";
import { once } from "./memoize.ts";

/**
 * Text that a target may have written, made safe to show: control characters, ANSI escapes, bidirectional overrides,
 * invisible characters and lone surrogates become visible escapes (`\x1b`, `\u{202e}`). Line feeds and tabs stay.
 */
export const sanitize = (text: string): string =>
  text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, escaped);

/** The same on one line, of at most `most` columns of a terminal and twice as many UTF-16 units, with a mark where it was cut. */
export function sanitizeLine(text: string, most = 300): string {
  const start = truncate(text, most * 2);
  const line = sanitize(start.replace(/\s+/g, " ").trim());
  const isWhole = text.slice(start.length).trim() === "";
  if (isWhole && line.length <= most * 2 && displayWidth(line) <= most) return line;
  return `${cutToWidth(truncate(line, most * 2), most - 1)}…`;
}

const segmenter = once(() => new Intl.Segmenter("en", { granularity: "grapheme" }));

/** A letter of more UTF-16 units than this is no letter, and may be cut: marks can be heaped on one without end. */
const longestLetter = 32;

/** The first `most` UTF-16 units at the most, without a part of a letter at the end. */
export function truncate(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, letterAt(text.slice(0, most + longestLetter), most).from);
}

/** The last `most` UTF-16 units at the most, without a part of a letter at the start. */
export function truncateStart(text: string, most: number): string {
  if (text.length <= most) return text;
  const skipped = Math.max(0, text.length - most - longestLetter);
  const { from, to } = letterAt(text.slice(skipped), text.length - most - skipped);
  return text.slice(skipped + (from === text.length - most - skipped ? from : to));
}

/** Where the letter begins and ends that holds a UTF-16 unit; of a letter that is too long, the code point. */
function letterAt(text: string, unit: number): { readonly from: number; readonly to: number } {
  const found = segmenter().segment(text).containing(unit);
  const from = found?.index ?? unit;
  const to = from + (found?.segment.length ?? 0);
  if (to - from <= longestLetter) return { from, to };
  const isSecondHalf = /^[\udc00-\udfff]/.test(text.slice(unit)) && /[\ud800-\udbff]$/.test(text.slice(0, unit));
  return isSecondHalf ? { from: unit - 1, to: unit + 1 } : { from: unit, to: unit };
}

function escaped(character: string): string {
  if (character === "\r") return "\\r";
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
