import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { renderText, type Text } from "../model/text.ts";

/** Formats text as Markdown: the harness's own words as prose, and values from outside as inline code. */
export const formatText = (text: Text): string =>
  renderText(text, {
    own: proseOf,
    outside: ({ raw, max, isProse }) => (isProse ? prose(raw, max) : code(raw, max)),
  });

/**
 * Formats text from outside as inline code on one line, also in a table cell. The text cannot become markup, a link or a mention: hosts of Markdown
 * do not turn `@team`, `#12` or addresses into links inside code.
 */
export const code = (text: string, max = 300): string => {
  const line = sanitizeLine(text, max);
  // The comment keeps an address from becoming a link; it does not show on the page.
  return line === "" ? "" : `<code>${escaped(line).replaceAll("&#64;", "&#64;<!-- -->")}</code>`;
};

/** Formats a sentence as prose: its backticks mark inline code, and nothing else in it is markup. */
export const prose = (text: string, max = 1000): string => proseOf(sanitizeLine(text, max));

const proseOf = (text: string): string =>
  text
    .split("`")
    .map((part, at, parts) => (at % 2 === 1 && at < parts.length - 1 ? code(part, 1000) : plain(part)))
    .join("");

/** Adds an invisible word joiner after each `@` and `#`, so that no name becomes a mention and no number becomes a link to an issue. */
const plain = (text: string): string => escaped(text).replace(/&#(?:64|35);/g, "$&&#8288;");

/** Escapes every character that Markdown or HTML could read as markup. A full stop or a colon is escaped only where it could be part of a URL. */
const escaped = (text: string): string =>
  text.replace(/[#$&*<>@[\\\]_`{|}~]|\.(?=\w)|:(?=\S)/g, (character) => `&#${character.charCodeAt(0)};`);

/** Puts lines into a fenced code block. The fence is long enough that no line can end the block. */
export function fenced(lines: readonly string[]): string {
  const text = sanitize(lines.join("\n"));
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

/** Formats a table. Its cells are already Markdown. The columns with the indexes `rightColumns` are aligned to the right. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  rightColumns: readonly number[] = [],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, at) => (rightColumns.includes(at) ? "--:" : "---"))), ...rows.map(line)].join(
    "\n",
  );
}
