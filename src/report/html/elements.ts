import { sanitize, sanitizeLine, truncate } from "../../base/sanitize.ts";
import type { Outcome, ReportFinding } from "../model/finding.ts";
import type { Text } from "../model/section.ts";
import { type Html, html, type HtmlContent } from "./markup.ts";
import { createHash } from "node:crypto";

/** The text on the badge of each outcome, for readers who cannot see the badge's colour. */
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

export const pageSection = (id: string, title: HtmlContent, content: HtmlContent): Html =>
  html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${content}
  </section>`;

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

export const notesList = (notes: readonly string[], label: string): Html | null =>
  notes.length === 0
    ? null
    : html`<ul class="notes" aria-label="${label}">
        ${notes.map((note) => html`<li>${prose(note)}</li>`)}
      </ul>`;

export const numberTiles = (numbers: readonly (readonly [name: string, value: string])[]): Html =>
  definitionList("figures", numbers);

/** Puts a table into a box that scrolls sideways, so that a wide table does not make the whole page scroll. */
export const scrollableTable = (name: string, table: Html): Html =>
  html`<div class="table-box" role="group" aria-label="${name}" tabindex="0">${table}</div>`;

/** Renders the head row of a table. A string becomes a header cell; an {@link Html} value must be a header cell. */
export const tableHead = (cells: readonly (string | Html)[]): Html =>
  html`<thead>
    <tr>
      ${cells.map((cell) => (typeof cell === "string" ? html`<th scope="col">${cell}</th>` : cell))}
    </tr>
  </thead>`;

export const numberColumnHead = (text: string): Html => html`<th scope="col" class="number">${text}</th>`;

export const screenReaderHead = (text: string): Html =>
  html`<th scope="col"><span class="visually-hidden">${text}</span></th>`;

type Column = string | readonly [head: string | Html, classes: string];

export const numberColumn = (head: string): Column => [numberColumnHead(head), "number"];

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

export const tableRow = (columns: readonly Column[], cells: readonly HtmlContent[]): Html =>
  html`<tr>
    ${cells.map((content, at) => {
      const column = columns[at] ?? "";
      const classes = typeof column !== "string" && column[1] !== "" && html` class="${column[1]}"`;
      return at === 0 ? html`<th scope="row" ${classes}>${content}</th>` : html`<td${classes}>${content}</td>`;
    })}
  </tr>`;

/** Renders a text of the report model on one line. Words in backticks become code. */
export const textHtml = ({ parts }: Text): Html =>
  html`${parts.map((part) => (part.kind === "own" ? renderInlineCode(part.words) : prose(part.raw, part.max)))}`;

/** Renders a string on one line. Words in backticks become code. The string may come from the target: it is escaped. */
export const prose = (text: string, max = 600): Html => renderInlineCode(sanitizeLine(text, max));

const maxTextCharacters = 4000;

export function multilineText(text: string): Html {
  const hiddenCount = text.length - maxTextCharacters;
  return html`<span class="lines"
    >${renderInlineCode(`${sanitize(truncate(text, maxTextCharacters))}${hiddenCount > 0 ? ` … (${hiddenCount} more characters)` : ""}`)}</span
  >`;
}

function renderInlineCode(text: string): Html {
  const pieces = text.split("`");
  const isWhole = pieces.length % 2 === 1;
  return html`${pieces.map((piece, at) => {
    if (at % 2 === 0) return piece;
    return isWhole || at < pieces.length - 1 ? html`<code>${piece}</code>` : `\`${piece}`;
  })}`;
}

export const findingAnchor = ({ check, instance }: Pick<ReportFinding, "check" | "instance">): string =>
  instance === undefined
    ? `finding-${encodeFragment(check)}`
    : `finding-${encodeFragment(check)}:${encodeFragment(instance)}`;

/** Returns the URL fragment of a finding of the page. */
export type AnchorOf = (finding: ReportFinding) => string;

/** Gives each finding a URL fragment. A second finding with the same check and instance gets the suffix `~2`. */
export function assignAnchors(findings: readonly ReportFinding[]): AnchorOf {
  const used = new Map<string, number>();
  const anchors = new Map(
    findings.map((finding) => {
      const anchor = findingAnchor(finding);
      const count = (used.get(anchor) ?? 0) + 1;
      used.set(anchor, count);
      return [finding, count === 1 ? anchor : `${anchor}~${count}`];
    }),
  );
  return (finding) => anchors.get(finding) ?? findingAnchor(finding);
}

export const runAnchor = (evidence: string): string => `run-${encodeFragment(evidence)}`;

export const clauseAnchor = (clause: string): string => `clause-${encodeFragment(clause)}`;

/** Encodes a text for a URL fragment. Different texts give different fragments. */
const encodeFragment = (text: string): string =>
  text.length > maxEncodedCharacters
    ? `${encodeFragment(truncate(text, 60))}~${shortHash(text)}`
    : encodeCharacters(text);

/** Maximum length of a text in a URL fragment. A longer text is cut, and a hash is added. */
const maxEncodedCharacters = 160;

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

const encodeCharacters = (text: string): string =>
  Array.from(text, (character) => (/^[A-Za-z0-9./,-]$/.test(character) ? character : encodeCharacter(character))).join(
    "",
  );

const encodeCharacter = (character: string): string =>
  character === " " ? "+" : `_${(character.codePointAt(0) ?? 0).toString(16)}_`;
