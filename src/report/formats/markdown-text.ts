import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { renderText, type Text } from "../model/text.ts";

/** Text as Markdown: our own words as prose, values from outside in code letters. */
export const formatText = (text: Text): string =>
  renderText(text, {
    own: proseOf,
    outside: ({ raw, max, isProse }) => (isProse ? prose(raw, max) : code(raw, max)),
  });

/**
 * Text from outside in code letters, on one line: it cannot become markup, a link or a mention, not even in a cell of a table. Hosts of Markdown do
 * not turn `@team`, `#12` or addresses into links inside code.
 */
export const code = (text: string, max = 300): string => {
  const line = sanitizeLine(text, max);
  // The comment keeps an address from becoming a link; it does not show on the page.
  return line === "" ? "" : `<code>${escaped(line).replaceAll("&#64;", "&#64;<!-- -->")}</code>`;
};

/** A sentence as prose: its backticks become code letters, and nothing else in it is markup. */
export const prose = (text: string, max = 1000): string => proseOf(sanitizeLine(text, max));

const proseOf = (text: string): string =>
  text
    .split("`")
    .map((part, at, parts) => (at % 2 === 1 && at < parts.length - 1 ? code(part, 1000) : plain(part)))
    .join("");

/** A word joiner, which is invisible, keeps an `@` or `#` from becoming a mention. */
const plain = (text: string): string => escaped(text).replace(/&#(?:64|35);/g, "$&&#8288;");

/** Escapes every character that Markdown or HTML could read as markup; a point or a colon only where it could begin an address. */
const escaped = (text: string): string =>
  text.replace(/[#$&*<>@[\\\]_`{|}~]|\.(?=\w)|:(?=\S)/g, (character) => `&#${character.charCodeAt(0)};`);

/** Lines in a fenced block that none of them can end. */
export function fenced(lines: readonly string[]): string {
  const text = sanitize(lines.join("\n"));
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

/** A table of cells that are Markdown already. `rightColumns` (from 0) are aligned to the right. */
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
