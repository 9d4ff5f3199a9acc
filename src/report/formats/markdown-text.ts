import { sanitize, sanitizeLine } from "../../base/sanitize.ts";

/**
 * Text of the target as Markdown shows it, in code letters and on one line: no markup, no link and no mention can come of it, in a cell of a
 * table neither. What a host of Markdown does after rendering (`@team`, `#12`, addresses) it does not do in code.
 */
export const code = (text: string, most = 300): string => {
  const line = sanitizeLine(text, most);
  // The comment keeps an address from being one; it is gone when the page is seen.
  return line === "" ? "" : `<code>${escaped(line).replaceAll("&#64;", "&#64;<!-- -->")}</code>`;
};

/** Text of our own, such as a clause's sentence, as prose: its backticks become code letters, and nothing else in it is markup. */
export const prose = (text: string): string =>
  sanitizeLine(text, 1000)
    .split("`")
    .map((part, at, parts) => (at % 2 === 1 && at < parts.length - 1 ? code(part, 1000) : proseOf(part)))
    .join("");

/** A word joiner, which nobody sees, keeps an `@` or `#` from naming somebody or something. */
const proseOf = (text: string): string => escaped(text).replace(/&#(?:64|35);/g, "$&&#8288;");

/** Everything that Markdown or HTML could take for more than itself, as a reference: a point or a colon only where an address could come of it. */
const escaped = (text: string): string =>
  text.replace(/[#$&*<>@[\\\]_`{|}~]|\.(?=\w)|:(?=\S)/g, (character) => `&#${character.charCodeAt(0)};`);

/** Lines as they are, in a block that none of them can end. */
export function fenced(lines: readonly string[]): string {
  const text = sanitize(lines.join("\n"));
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

/** A table; the cells are Markdown already. The columns named in `numbers` (from 0) stand right. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  numbers: readonly number[] = [],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, at) => (numbers.includes(at) ? "--:" : "---"))), ...rows.map(line)].join("\n");
}
