import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { renderText, type Text } from "../model/section.ts";

/** Formats a text as Markdown. Untrusted values (`outside`) become inline code, unless `isProse` is set. */
export const formatText = (text: Text): string =>
  renderText(text, {
    own: renderProse,
    outside: ({ raw, max, isProse }) => (isProse ? markdownProse(raw, max) : markdownCode(raw, max)),
  });

/** Formats any text as inline code on one line. The text cannot become markup, a link or a mention. */
export const markdownCode = (text: string, max = 300): string => {
  const line = sanitizeLine(text, max);
  // The invisible HTML comment after each `@` prevents a link to an email address.
  return line === "" ? "" : `<code>${escapeMarkup(line).replaceAll("&#64;", "&#64;<!-- -->")}</code>`;
};

/** Formats a sentence as prose. Its backticks mark inline code; everything else is escaped. */
export const markdownProse = (text: string, max = 1000): string => renderProse(sanitizeLine(text, max));

const renderProse = (text: string): string =>
  text
    .split("`")
    .map((part, at, parts) =>
      at % 2 === 1 && at < parts.length - 1 ? markdownCode(part, 1000) : escapePlainText(part),
    )
    .join("");

/** Escapes markup. Adds an invisible word joiner after `@` and `#`, which prevents mentions and issue links on GitHub. */
const escapePlainText = (text: string): string => escapeMarkup(text).replace(/&#(?:64|35);/g, "$&&#8288;");

/** Escapes Markdown and HTML markup. Escapes full stops and colons only where they may be part of a URL. */
const escapeMarkup = (text: string): string =>
  text.replace(/[#$&*<>@[\\\]_`{|}~]|\.(?=\w)|:(?=\S)/g, (character) => `&#${character.charCodeAt(0)};`);

/** Puts lines into a fenced code block. The fence is longer than any run of backticks inside. */
export function fencedBlock(lines: readonly string[]): string {
  const text = sanitize(lines.join("\n"));
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

/** Formats a table whose cells are already Markdown. `rightColumns` are the indexes of columns to align right. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  rightColumns: readonly number[] = [],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, at) => (rightColumns.includes(at) ? "--:" : "---"))), ...rows.map(line)].join(
    "\n",
  );
}
