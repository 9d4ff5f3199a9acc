import { grouped } from "./numbers.ts";

/** Breaks text at blanks into lines of at most `width` characters; a longer word stays whole. Never empty. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Text behind a label, wrapped so that further lines stand under the first. `label` is as wide as it is long unpainted. */
export function labelled(label: string, text: string, width: number, paint: (label: string) => string): string[] {
  const indent = " ".repeat(label.length);
  return wrap(text, Math.max(20, width - label.length)).map((line, at) => (at === 0 ? paint(label) : indent) + line);
}

/** `1 clause`, `2 clauses`, `4,213 requests`. */
export const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

/** The first few of a list, and how many more there are. */
export function firstOf(items: readonly string[], most: number): string {
  if (items.length <= most) return items.join(", ");
  return `${items.slice(0, most).join(", ")} and ${items.length - most} more`;
}
