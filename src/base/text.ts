import { displayWidth, splitToWidth } from "./display-width.ts";
import { formatNumber } from "./numbers.ts";
import { styleText } from "node:util";

/** Wraps text at blanks into lines of at most `width` columns. Does not break longer words. */
export const wrap = (text: string, width: number): string[] => fillLines(text.split(" "), width);

export const wrapBroken = (text: string, width: number): string[] =>
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

/** Puts a label, coloured by `paint`, before a wrapped text. Indents the further lines by the label's width. */
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

/** Joins the first items of a list by commas, and adds how many more there are: `a, b and 3 more`. */
export function joinFirst(items: readonly string[], most: number): string {
  if (items.length <= most) return items.join(", ");
  return `${items.slice(0, most).join(", ")} and ${items.length - most} more`;
}

/** Returns `undefined` for an empty text, because an empty environment variable counts as not set. */
export const nonEmpty = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

/** Returns a function that matches whole names, ignoring case. In the pattern, `*` stands for any text. */
export function globOf(pattern: string): (name: string) => boolean {
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
