import { formatLabelled, wrap } from "../base/text.ts";

/** Room that a text behind a term needs, to be worth wrapping there. */
const leastTextWidth = 30;
/** Where a text stands that has no room behind its term. */
const below = " ".repeat(6);
/** What is behind a term: two blanks or more, then text. */
const termAndText = /^(\s*\S.*?\s{2,})(\S.*)$/;

/**
 * The help of a command, no wider than the terminal: paragraphs are wrapped, and so is the text behind a term, below its own beginning.
 * A command to copy stays on its line.
 */
export function fittedHelp(text: string, width: number): string {
  const lines = text.split("\n");
  if (lines.every((line) => line.length <= width)) return text;
  return paragraphsOf(lines)
    .flatMap((line) => (line.length <= width ? [line] : fitted(line, width)))
    .join("\n");
}

/** Lines with those of a paragraph joined: lines that begin with no blank, and follow one another. */
function paragraphsOf(lines: readonly string[]): string[] {
  const joined: string[] = [];
  for (const line of lines) {
    const before = joined.at(-1);
    const goesOn = before !== undefined && isProse(before) && isProse(line) && !before.endsWith(":");
    if (goesOn) joined[joined.length - 1] = `${before} ${line}`;
    else joined.push(line);
  }
  return joined;
}

const isProse = (line: string): boolean => /^\S/.test(line);

function fitted(line: string, width: number): string[] {
  if (isProse(line)) return wrap(line, width);
  const [, term = "", text = ""] = termAndText.exec(line) ?? [];
  if (text === "") return [line];
  if (width - term.length < leastTextWidth)
    return [term.trimEnd(), ...formatLabelled(below, text, width, (blanks) => blanks)];
  const indent = " ".repeat(term.length);
  return wrap(text, width - term.length).map((part, at) => (at === 0 ? term : indent) + part);
}
