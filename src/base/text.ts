import { styleText } from "node:util";

import { eastAsianWidth } from "get-east-asian-width";

import { once } from "./memoize.ts";
import { formatNumber } from "./numbers.ts";

export const segmenter = once(() => new Intl.Segmenter("en", { granularity: "grapheme" }));

/** Splits text into graphemes. An ANSI colour code counts as one grapheme. */
export const graphemesOf = (text: string): string[] =>
  text.split(colourCode).flatMap((part, at) => (at % 2 === 1 ? [part] : segmentsOf(part)));

// The capturing group makes `split` keep the colour codes in its result.
const colourCode = /(\p{Cc}\[[\d;]*m)/u;

const segmentsOf = (text: string): string[] =>
  asciiPattern.test(text) ? text.split("") : Array.from(segmenter().segment(text), ({ segment }) => segment);

const asciiPattern = /^[\x20-\x7e]*$/;

/** Returns the width of a text in terminal columns: two for wide letters and emoji, none for invisible ones. */
export const displayWidth = (text: string): number =>
  asciiPattern.test(text) ? text.length : graphemesOf(text).reduce((sum, grapheme) => sum + widthOf(grapheme), 0);

const invisiblePattern = /^(?:[\p{Cc}\p{Cf}\p{M}\p{Cs}\p{Default_Ignorable_Code_Point}]+|\p{Cc}\[[\d;]*m)$/u;
/** Matches every emoji, but also digits. This quick test avoids most uses of the slow pattern `emoji`. */
const emojiOrDigit = /\p{Emoji}/u;
// Compiles the pattern on first use, because V8 takes tens of milliseconds for it.
const emoji = once(() => new RegExp(String.raw`^\p{RGI_Emoji}$`, "v"));
const isEmoji = (grapheme: string): boolean => emojiOrDigit.test(grapheme) && emoji().test(grapheme);

function widthOf(grapheme: string): number {
  if (asciiPattern.test(grapheme)) return grapheme.length;
  if (invisiblePattern.test(grapheme)) return 0;
  return isEmoji(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

export function cutToWidth(text: string, columns: number): string {
  if (asciiPattern.test(text)) return text.slice(0, columns);
  let left = columns;
  const graphemes = graphemesOf(text);
  const end = graphemes.findIndex((grapheme) => (left -= widthOf(grapheme)) < 0);
  return end < 0 ? text : graphemes.slice(0, end).join("");
}

export function padToWidth(text: string, columns: number, align: "left" | "right" = "left"): string {
  const blanks = " ".repeat(Math.max(0, columns - displayWidth(text)));
  return align === "left" ? text + blanks : blanks + text;
}

export function splitToWidth(text: string, columns: number): string[] {
  const parts: string[] = [];
  let part = "";
  let taken = 0;
  for (const grapheme of graphemesOf(text)) {
    const width = widthOf(grapheme);
    if (taken > 0 && taken + width > columns) {
      parts.push(part);
      [part, taken] = ["", 0];
    }
    part += grapheme;
    taken += width;
  }
  return part === "" ? parts : [...parts, part];
}

/** Wraps text at blanks into lines of at most `width` columns. Does not break longer words. */
export const wrap = (text: string, width: number): string[] => fillLines(text.split(" "), width);

export const wrapBreakingWords = (text: string, width: number): string[] =>
  fillLines(
    text.split(" ").flatMap((word) => (displayWidth(word) <= width ? word : splitToWidth(word, width))),
    width,
  );

function fillLines(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = "";
  let taken = 0;
  for (const word of words) {
    const columns = displayWidth(word);
    if (line !== "" && taken + 1 + columns > width) {
      lines.push(line);
      [line, taken] = [word, columns];
    } else [line, taken] = line === "" ? [word, columns] : [`${line} ${word}`, taken + 1 + columns];
  }
  return [...lines, line];
}

/** Puts a label, coloured by `paint`, before a wrapped text. Indents all lines but the first by the label's width. */
export function formatLabelled(label: string, text: string, width: number, paint: (label: string) => string): string[] {
  const columns = displayWidth(label);
  const indent = " ".repeat(columns);
  return wrap(text, Math.max(20, width - columns)).map((line, at) => (at === 0 ? paint(label) : indent) + line);
}

/** Formats a count with its noun: `1 clause`, `2 clauses`, `4,213 requests`. */
export const formatCount = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;

export const joinWithOr = (items: readonly string[]): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} or ${items.at(-1)}`;

/** Joins the first items of a list by commas, and adds the number of further items: `a, b and 3 more`. */
export function joinFirst(items: readonly string[], maxItems: number): string {
  if (items.length <= maxItems) return items.join(", ");
  return `${items.slice(0, maxItems).join(", ")} and ${items.length - maxItems} more`;
}

/** Returns `undefined` for an empty text, because an empty environment variable counts as not set. */
export const nonEmpty = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

/** Returns a function that matches whole names, ignoring case. In the pattern, `*` stands for any text. */
export function globMatcher(pattern: string): (name: string) => boolean {
  const parts = pattern.split(/\*+/).map((part) => RegExp.escape(part));
  const whole = new RegExp(`^${parts.join(".*")}$`, "i");
  return (name) => whole.test(name);
}

const styles = ["bold", "dim", "red", "green", "yellow", "cyan"] as const;
type Style = (typeof styles)[number];

export type Paint = Readonly<Record<Style, (text: string) => string>>;

export function createPaint(colour: boolean): Paint {
  const painter =
    (style: Style) =>
    (text: string): string =>
      colour && text !== "" ? styleText(style, text, { validateStream: false }) : text;
  return Object.fromEntries(styles.map((style) => [style, painter(style)])) as Paint;
}
