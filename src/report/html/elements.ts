import { truncate, sanitize, sanitizeLine } from "../../base/sanitize.ts";
import type { Outcome } from "../model/report.ts";
import { type Html, html } from "./markup.ts";

/** Words that stand on a badge; the colour says the same once more. */
const outcomeWords: Readonly<Record<Outcome, string>> = {
  pass: "✓ pass",
  fail: "✕ fail",
  warning: "! warning",
  note: "note",
  observed: "observed",
  skipped: "skipped",
  error: "harness error",
};

export const badge = (outcome: Outcome): Html => html`<span class="badge ${outcome}">${outcomeWords[outcome]}</span>`;

/** What people ask for first: a few names, each with its figure. */
export const figureList = (figures: readonly (readonly [name: string, value: string])[]): Html =>
  html`<dl class="figures">
    ${figures.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;

/** A table in a box that scrolls by itself, with the keyboard too, so that the page never does. */
export const tableBox = (name: string, table: Html): Html =>
  html`<div class="table-box" role="group" aria-label="${name}" tabindex="0">${table}</div>`;

/** The head of a table: of a string its cell is made, and markup is a cell already. */
export const tableHead = (cells: readonly (string | Html)[]): Html =>
  html`<thead>
    <tr>
      ${cells.map((cell) => (typeof cell === "string" ? html`<th scope="col">${cell}</th>` : cell))}
    </tr>
  </thead>`;

/** Cell of a head over figures, which stand at the right. */
export const numberHead = (text: string): Html => html`<th scope="col" class="number">${text}</th>`;

/** Cell of a head that is read aloud, and not seen. */
export const hiddenHead = (text: string): Html =>
  html`<th scope="col"><span class="visually-hidden">${text}</span></th>`;

/**
 * A table of one body, in its box.
 *
 * @param classes of the table
 */
export const tableOf = (
  name: string,
  head: readonly (string | Html)[],
  rows: readonly Html[],
  classes: string | null = null,
): Html =>
  tableBox(
    name,
    html`<table${classes !== null && html` class="${classes}"`}>
      ${tableHead(head)}
      <tbody>
        ${rows}
      </tbody>
    </table>`,
  );

/** Text that may be a target's, on one line, with what stands between backticks as code. */
export const prose = (text: string, most = 600): Html => withCode(sanitizeLine(text, most));

/** Text that may be a target's, with its line feeds, bounded; code as in {@link prose}. */
export function longText(text: string, most = 4000): Html {
  const left = text.length - most;
  return html`<span class="lines"
    >${withCode(`${sanitize(truncate(text, most))}${left > 0 ? ` … (${left} more characters)` : ""}`)}</span
  >`;
}

/** A backtick without a partner is one. */
function withCode(text: string): Html {
  const pieces = text.split("`");
  const isWhole = pieces.length % 2 === 1;
  return html`${pieces.map((piece, at) => {
    if (at % 2 === 0) return piece;
    return isWhole || at < pieces.length - 1 ? html`<code>${piece}</code>` : `\`${piece}`;
  })}`;
}
