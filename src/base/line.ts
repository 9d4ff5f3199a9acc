import { hideKeys } from "./key-like.ts";
import { sanitize, truncate } from "./sanitize.ts";

declare const harmless: unique symbol;

/** A message for people on one line, in which everything from outside is harmless. Only the functions of this file make one. */
export type Line = string & { readonly [harmless]: true };

/** Longest part from outside, in UTF-16 units. */
const maxHoleLength = 2000;

/**
 * Makes a line from a template. The fixed parts are the harness's own words. A hole may hold anything from outside: a file name, a value of a
 * target file, an address. Control characters, line feeds and bidirectional marks in it become visible escapes, and what looks like a key is
 * hidden.
 */
export const line = (template: TemplateStringsArray, ...holes: readonly (string | number)[]): Line =>
  template.map((words, at) => words + (at < holes.length ? fromOutside(String(holes[at])) : "")).join("") as Line;

/** Makes text from outside harmless and one line long. */
export function fromOutside(text: string): Line {
  const start = truncate(text, maxHoleLength);
  const shown = hideKeys(sanitize(start).replaceAll("\n", "\\n").replaceAll("\t", "\\t"));
  return (start === text ? shown : `${shown}…`) as Line;
}

/** Joins lines by a separator, which may be a line feed. */
export const joinLines = (lines: readonly Line[], separator: string): Line => lines.join(separator) as Line;
