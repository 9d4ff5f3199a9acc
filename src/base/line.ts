import { hideKeys } from "./hide-keys.ts";
import { sanitize, truncate } from "./sanitize.ts";

declare const harmless: unique symbol;

/**
 * A message for people, on one line, in which all text from outside has been made harmless. Only the functions of this
 * file create this type.
 */
export type Line = string & { readonly [harmless]: true };

/** Maximum length of an inserted text from outside, in UTF-16 units. */
const maxInsertedLength = 2000;

/**
 * Makes a line from a template literal. The inserted values may come from outside: a file name, a value of a target
 * file, an address. Their control characters, line feeds and bidirectional marks become visible escapes, and words that
 * look like keys are hidden.
 */
export const line = (template: TemplateStringsArray, ...holes: readonly (string | number)[]): Line =>
  template.map((words, at) => words + (at < holes.length ? fromOutside(String(holes[at])) : "")).join("") as Line;

/** Makes text from outside harmless, and puts it on one line. */
export function fromOutside(text: string): Line {
  const start = truncate(text, maxInsertedLength);
  const shown = hideKeys(sanitize(start).replaceAll("\n", "\\n").replaceAll("\t", "\\t"));
  return (start === text ? shown : `${shown}…`) as Line;
}

/** Joins lines by a separator, such as a blank or a line feed. */
export const joinLines = (lines: readonly Line[], separator: string): Line => lines.join(separator) as Line;
