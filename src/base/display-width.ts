import { eastAsianWidth } from "get-east-asian-width";

import { once } from "./memoize.ts";

const segmenter = once(() => new Intl.Segmenter("en", { granularity: "grapheme" }));

/** Letters as people see them, so that no mark is parted from its letter and no surrogate from its pair; escape sequences of colours stand alone. */
export const graphemesOf = (text: string): string[] =>
  text.split(colourCode).flatMap((part, at) => (at % 2 === 1 ? [part] : segmentsOf(part)));

// With a group, split keeps what it splits at: every second part is a code.
const colourCode = /(\p{Cc}\[[\d;]*m)/u;

const segmentsOf = (text: string): string[] =>
  isPlain.test(text) ? text.split("") : Array.from(segmenter().segment(text), ({ segment }) => segment);

/** Each character of it is a letter of its own, one column wide. */
const isPlain = /^[\x20-\x7e]*$/;

/** How many columns of a terminal a text takes: East Asian wide letters and emoji take two; marks, invisible characters and colours none. */
export const displayWidth = (text: string): number =>
  isPlain.test(text) ? text.length : graphemesOf(text).reduce((sum, grapheme) => sum + widthOf(grapheme), 0);

const isInvisible = /^(?:[\p{Cc}\p{Cf}\p{M}\p{Cs}\p{Default_Ignorable_Code_Point}]+|\p{Cc}\[[\d;]*m)$/u;
/** Every emoji has one of these in it, as have digits. */
const mayBeEmoji = /\p{Emoji}/u;
// No literal: V8 takes tens of milliseconds to list all emoji, as soon as the module is loaded.
const emoji = once(() => new RegExp(String.raw`^\p{RGI_Emoji}$`, "v"));
const isEmoji = (grapheme: string): boolean => mayBeEmoji.test(grapheme) && emoji().test(grapheme);

function widthOf(grapheme: string): number {
  if (isPlain.test(grapheme)) return grapheme.length;
  if (isInvisible.test(grapheme)) return 0;
  return isEmoji(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

/** The beginning of a text that fits into so many columns: whole letters. */
export function cutToWidth(text: string, columns: number): string {
  if (isPlain.test(text)) return text.slice(0, columns);
  let left = columns;
  const graphemes = graphemesOf(text);
  const end = graphemes.findIndex((grapheme) => (left -= widthOf(grapheme)) < 0);
  return end < 0 ? text : graphemes.slice(0, end).join("");
}

/** The same with blanks to so many columns, after it or, on the right, before it; a wider text stays as it is. */
export function padded(text: string, columns: number, align: "left" | "right" = "left"): string {
  const blanks = " ".repeat(Math.max(0, columns - displayWidth(text)));
  return align === "left" ? text + blanks : blanks + text;
}

/** Parts of a text of at most so many columns each, none of them empty; a letter that is wider stands alone. */
export function brokenAt(text: string, columns: number): string[] {
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
