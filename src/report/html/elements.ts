import { truncate, sanitize, sanitizeLine } from "../../base/sanitize.ts";
import type { Outcome } from "../model/report.ts";
import type { Text } from "../model/section.ts";
import { type Html, type HtmlContent, html } from "./markup.ts";

/** The word on the badge of each outcome, so that colour is not the only sign. */
const outcomeWords: Readonly<Record<Outcome, string>> = {
  pass: "✓ pass",
  fail: "✕ fail",
  warning: "! warning",
  note: "note",
  observed: "observed",
  skipped: "skipped",
  error: "harness error",
};

export const outcomeBadge = (outcome: Outcome): Html =>
  html`<span class="badge ${outcome}">${outcomeWords[outcome]}</span>`;

/** Renders a section of a page under its heading, whose id is also a link target. */
export const pageSection = (id: string, title: HtmlContent, content: HtmlContent): Html =>
  html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${content}
  </section>`;

/** Renders terms with their descriptions. */
export const definitionList = (
  classes: string,
  rows: readonly (readonly [term: HtmlContent, description: HtmlContent])[],
): Html =>
  html`<dl class="${classes}">
    ${rows.map(
      ([term, description]) =>
        html`<div>
          <dt>${term}</dt>
          <dd>${description}</dd>
        </div>`,
    )}
  </dl>`;

/** Renders a list of notes; `null` without notes. */
export const notesList = (notes: readonly string[], label: string): Html | null =>
  notes.length === 0
    ? null
    : html`<ul class="notes" aria-label="${label}">
        ${notes.map((note) => html`<li>${prose(note)}</li>`)}
      </ul>`;

/** Renders a few large numbers, each with its name. */
export const numberTiles = (numbers: readonly (readonly [name: string, value: string])[]): Html =>
  definitionList("figures", numbers);

/** Puts a table into a box that scrolls sideways, so that the page itself does not scroll. */
export const scrollableTable = (name: string, table: Html): Html =>
  html`<div class="table-box" role="group" aria-label="${name}" tabindex="0">${table}</div>`;

/** Renders the head row of a table. An {@link Html} value must already be a header cell. */
export const tableHead = (cells: readonly (string | Html)[]): Html =>
  html`<thead>
    <tr>
      ${cells.map((cell) => (typeof cell === "string" ? html`<th scope="col">${cell}</th>` : cell))}
    </tr>
  </thead>`;

/** Renders the header cell of a column of numbers, aligned to the right. */
export const numberColumnHead = (text: string): Html => html`<th scope="col" class="number">${text}</th>`;

/** Renders a header cell that is invisible, for screen readers only. */
export const screenReaderHead = (text: string): Html =>
  html`<th scope="col"><span class="visually-hidden">${text}</span></th>`;

/** A column of a table: its heading, optionally with CSS classes for its cells. */
export type Column = string | readonly [head: string | Html, classes: string];

/** A column of numbers, aligned to the right with its head. */
export const numberColumn = (head: string): Column => [numberColumnHead(head), "number"];

/** Renders a table in a box that scrolls sideways. */
export function renderTable(
  name: string,
  columns: readonly Column[],
  rows: readonly (readonly HtmlContent[])[],
  classes: string | null = null,
): Html {
  const table = html`<table${classes !== null && html` class="${classes}"`}>
    ${tableHead(columns.map((column) => (typeof column === "string" ? column : column[0])))}
    <tbody>
      ${rows.map((cells) => tableRow(columns, cells))}
    </tbody>
  </table>`;
  return scrollableTable(name, table);
}

/** Renders the cells of a row. The first is its heading. */
export const tableRow = (columns: readonly Column[], cells: readonly HtmlContent[]): Html =>
  html`<tr>
    ${cells.map((content, at) => {
      const column = columns[at] ?? "";
      const classes = typeof column !== "string" && column[1] !== "" && html` class="${column[1]}"`;
      return at === 0 ? html`<th scope="row" ${classes}>${content}</th>` : html`<td${classes}>${content}</td>`;
    })}
  </tr>`;

/** Renders a text on one line. Backticks in it mark code. */
export const textHtml = ({ parts }: Text): Html =>
  html`${parts.map((part) => (part.kind === "own" ? renderInlineCode(part.words) : prose(part.raw, part.max)))}`;

/** Renders a string on one line. Backticks mark code. The string may come from the target: it is escaped. */
export const prose = (text: string, max = 600): Html => renderInlineCode(sanitizeLine(text, max));

/** Renders a string that may come from outside, with its line breaks. Backticks in it mark code. */
export function multilineText(text: string, max = 4000): Html {
  const hiddenCount = text.length - max;
  return html`<span class="lines"
    >${renderInlineCode(`${sanitize(truncate(text, max))}${hiddenCount > 0 ? ` … (${hiddenCount} more characters)` : ""}`)}</span
  >`;
}

/** Turns each text in backticks into a code element. A single backtick is kept. */
function renderInlineCode(text: string): Html {
  const pieces = text.split("`");
  const isWhole = pieces.length % 2 === 1;
  return html`${pieces.map((piece, at) => {
    if (at % 2 === 0) return piece;
    return isWhole || at < pieces.length - 1 ? html`<code>${piece}</code>` : `\`${piece}`;
  })}`;
}
