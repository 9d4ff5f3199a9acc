import { badge, hiddenHead, prose, tableHead } from "../html/elements.ts";
import { type Html, html } from "../html/markup.ts";
import { renderPage } from "../html/page.ts";
import { formatCount } from "../../base/text.ts";
import { baseStyle } from "../html/base-style.ts";
import type { ClauseCell, ClauseRow, ClauseSection } from "./clause-rows.ts";
import type { LatencyRow } from "./latency-rows.ts";
import type { TierRows } from "./limit-rows.ts";
import { headPart } from "./page-heads.ts";
import { pageScript, pageStyle } from "./page-style.ts";
import type { VendorComparison } from "./comparison.ts";
import { notObserved, type TextRow } from "./behaviour-rows.ts";
import { latencyText, limitsCaveat, loadTimesCaveat, notesOf, overview, runTimesCaveat } from "./summary.ts";

/** Vendors side by side as one page for people: it stands alone, and everything is there without its script. */
export function renderVendorsPage(all: VendorComparison): string {
  const [notes, tables] = [notesOf(all), tablesOf(all).filter(({ bodies }) => bodies.length > 0)];
  return renderPage({
    title: `Side by side: ${all.vendors.map(({ name }) => name).join(", ")}`,
    styles: [baseStyle, pageStyle],
    script: pageScript,
    body: html`<a class="skip-link" href="#content">Skip to the tables</a>
      <header class="wide">
        <h1>Vendors side by side</h1>
        <p class="lead">${overview(all)}</p>
        <ul class="heads">
          ${all.vendors.map(headPart)}
        </ul>
        ${
          notes.length === 0
            ? null
            : html`<ul class="notes" aria-label="To know before comparing">
                ${notes.map((note) => html`<li>${prose(note)}</li>`)}
              </ul>`
        }
      </header>
      <main id="content">
        <div class="controls">
          <span id="filter" hidden>
            <button type="button" id="differences-only" aria-pressed="false">Differences only</button>
            <span id="shown" class="muted small" aria-live="polite"></span>
          </span>
          <nav aria-label="Tables">${tables.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}</nav>
        </div>
        ${tables.map((table) => matrix(table, all))}
        <footer>
          Made by agent-hosting-conformance on ${all.made.slice(0, 16).replace("T", " ")} UTC, of
          ${formatCount(all.vendors.length, "deployment")}.
        </footer>
      </main>`,
  });
}

/** One table of the page; without a body it is left out. */
interface PageTable {
  readonly id: string;
  readonly title: string;
  readonly lead: string;
  readonly bodies: readonly Html[];
}

function tablesOf({ vendors, sections, readings, gaps, limits, latencies }: VendorComparison): PageTable[] {
  const names = vendors.map(({ name }) => name);
  return [
    {
      id: "clauses",
      title: "Clauses",
      lead: "Each clause by the worst of its findings.",
      bodies: sections.map((each) => sectionRows(each, names)),
    },
    {
      id: "readings",
      title: "Readings",
      lead: "Where the words of the document allow more than one behaviour: which one each follows.",
      bodies: bodyOf(readings.map(textRow)),
    },
    {
      id: "silence",
      title: "Where the document is silent",
      lead: "How each behaves there. None of it is right or wrong; a client that moves from one to the other meets the differences.",
      bodies: bodyOf(gaps.map(textRow)),
    },
    { id: "limits", title: "Limits", lead: limitsCaveat, bodies: limits.map((each) => limitRows(each, names)) },
    { id: "times", title: "Times", lead: runTimesCaveat, bodies: bodyOf(latencies.ofRuns.map(latencyRow)) },
    { id: "load", title: "Times under load", lead: loadTimesCaveat, bodies: bodyOf(latencies.ofLoad.map(latencyRow)) },
  ];
}

const bodyOf = (rows: readonly Html[]): Html[] =>
  rows.length === 0
    ? []
    : [
        html`<tbody>
          ${rows}
        </tbody>`,
      ];

function matrix({ id, title, lead, bodies }: PageTable, { vendors }: VendorComparison): Html {
  return html`<section id="${id}">
    <h2>${title}</h2>
    <p class="muted">${lead}</p>
    <div class="table-box matrix" role="region" aria-label="${title}" tabindex="0">
      <table>
        <colgroup>
          <col class="what" />
          ${vendors.map(({ kind }) => html`<col class="${kind === "judged" ? "vendor" : "unjudged"}" />`)}
        </colgroup>
        ${tableHead([hiddenHead(title), ...vendors.map(({ name }) => name)])} ${bodies}
      </table>
    </div>
  </section>`;
}

const likeness = (differs: boolean): string => (differs ? "differs" : "same");

const apart = (differs: boolean): Html | null => (differs ? html` <span class="apart">≠ differs</span>` : null);

const groupRow = (title: string, names: readonly string[]): Html =>
  html`<tr class="rows-of">
    <th scope="rowgroup" colspan="${names.length + 1}">${title}</th>
  </tr>`;

function sectionRows({ title, rows }: ClauseSection, names: readonly string[]): Html {
  return html`<tbody class="${likeness(rows.some(({ differs }) => differs))}">
    ${groupRow(title, names)} ${rows.map(clauseRow)}
  </tbody>`;
}

const clauseRow = ({ clause, level, says, cells, differs }: ClauseRow): Html =>
  html`<tr data-row class="${likeness(differs)}">
    <th scope="row" class="row-head">
      <code>${clause}</code> <span class="muted small">${level}</span>${apart(differs)}
      <span class="says">${prose(says)}</span>
    </th>
    ${cells.map((cell) => html`<td>${clauseCell(cell)}</td>`)}
  </tr>`;

function clauseCell(cell: ClauseCell | null): Html {
  if (cell === null) return nothing("not judged");
  if (cell.outcome === "absent") return nothing("not in its report");
  return html`${badge(cell.outcome)}${cell.text === "" ? null : html`<p>${prose(cell.text)}</p>`}`;
}

const nothing = (text: string): Html => html`<span class="nothing">${text}</span>`;

const textRow = ({ check, says, cells, differs }: TextRow): Html =>
  html`<tr data-row class="${likeness(differs)}">
    <th scope="row" class="row-head">
      <code>${check}</code>${apart(differs)} <span class="says">${prose(says)}</span>
    </th>
    ${cells.map((cell) => html`<td>${textCell(cell)}</td>`)}
  </tr>`;

function textCell(cell: string | null): Html {
  if (cell === null) return nothing("not judged");
  if (cell === "") return nothing("not seen");
  return cell.startsWith(notObserved) ? nothing(cell) : prose(cell);
}

const limitRows = ({ tier, rows }: TierRows, names: readonly string[]): Html =>
  html`<tbody class="${likeness(rows.some(({ differs }) => differs))}">
    ${groupRow(tier, names)}
    ${rows.map(
      ({ name, published, cells, differs }) =>
        html`<tr data-row class="${likeness(differs)}">
          <th scope="row" class="row-head">
            ${name}${apart(differs)}
            ${published === "" ? null : html`<span class="says">published: ${published}</span>`}
          </th>
          ${cells.map((cell) => html`<td>${cell === "no key" ? nothing(cell) : textCell(cell)}</td>`)}
        </tr>`,
    )}
  </tbody>`;

const latencyRow = ({ name, cells }: LatencyRow): Html =>
  html`<tr>
    <th scope="row" class="row-head">${name}</th>
    ${cells.map((cell) => html`<td>${cell === null ? nothing("–") : latencyText(cell)}</td>`)}
  </tr>`;
