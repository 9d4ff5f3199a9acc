import { eastAsianWidth } from "get-east-asian-width";

import { once } from "./memoize.ts";

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
