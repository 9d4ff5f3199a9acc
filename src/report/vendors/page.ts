import { badge, hiddenHead, prose, tableHead } from "../html/elements.ts";
import { type Html, html } from "../html/markup.ts";
import { renderPage } from "../html/page.ts";
import { formatCount } from "../../base/text.ts";
import { baseStyle } from "../html/base-style.ts";
import { type ClauseCell, type ClauseRow, type ClauseSection, notObserved, type TextRow } from "./clause-rows.ts";
import type { LatencyRow } from "./latency-rows.ts";
import type { TierRows } from "./limit-rows.ts";
import { pageScript, pageStyle } from "./page-style.ts";
import type { VendorComparison, VendorSummary } from "./comparison.ts";
import {
  formatClauseCounts,
  latencyText,
  limitsCaveat,
  loadTimesCaveat,
  notesOf,
  overview,
  runTimesCaveat,
} from "./summary.ts";
import type { Verdict } from "../model/report.ts";

/** Renders a vendor comparison as one page. Without scripts the page shows everything. */
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

/** A table of the page; a table without bodies is left out. */
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
      lead: "Where the document allows more than one behaviour: the reading that each vendor follows.",
      bodies: bodyOf(readings.map(textRow)),
    },
    {
      id: "silence",
      title: "Where the document is silent",
      lead: "The behaviour of each vendor there. None of it is right or wrong, but a client that changes vendors meets the differences.",
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
  if (cell === "") return nothing("not observed");
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

const tones: Readonly<Record<Verdict, { readonly tone: string; readonly symbol: string }>> = {
  conformant: { tone: "pass", symbol: "✓" },
  nonconformant: { tone: "fail", symbol: "✕" },
  partial: { tone: "warning", symbol: "◐" },
  incomplete: { tone: "warning", symbol: "◐" },
  unreachable: { tone: "warning", symbol: "–" },
};

/** A vendor at the top of the page: name, verdict and counts. */
export function headPart(head: VendorSummary): Html {
  if (head.kind === "unjudged")
    return html`<li class="head">
      <h2>${head.name}</h2>
      <p class="word">– not judged</p>
      ${head.baseUrl === null ? null : html`<p class="muted"><code>${head.baseUrl}</code></p>`}
      <p>${prose(head.reason)}</p>
    </li>`;
  const { tone, symbol } = tones[head.verdict];
  return html`<li class="head ${tone}">
    <h2>${head.name}</h2>
    <p class="word">${symbol} ${head.verdict}</p>
    ${barOf(head)}
    <p>${formatClauseCounts(head)}</p>
    ${
      head.load === null
        ? null
        : html`<p>Under load: ${head.load.verdict}, ${head.load.broken} broken in ${head.load.runs} runs</p>`
    }
    <p class="muted"><code>${head.baseUrl}</code></p>
    <p class="muted">${factsOf(head)}</p>
  </li>`;
}

const factsOf = ({ tiers, requests, started, isKept }: Extract<VendorSummary, { kind: "judged" }>): string =>
  [
    ...(tiers.length === 0 ? [] : [`tiers ${tiers.join(", ")}`]),
    `${requests} requests`,
    ...(isKept ? [`report of ${started.slice(0, 10)}`] : []),
  ].join(" · ");

/** Shares of clauses as a bar; the text beside it has the same numbers. */
function barOf({ clauses }: Extract<VendorSummary, { kind: "judged" }>): Html {
  const { passed, broken, warned, noted, notExercised } = clauses;
  const parts = [
    ["pass", passed],
    ["fail", broken],
    ["warning", warned + noted],
    ["rest", notExercised],
  ] as const;
  const all = Math.max(1, passed + broken + warned + noted + notExercised);
  let from = 0;
  return html`<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
    ${parts.map(([name, count]) => {
      const x = from;
      // At least 1.5 units wide, so that a small count stays visible.
      const width = count === 0 ? 0 : Math.max(1.5, (100 * count) / all);
      from += width;
      return html`<rect class="${name}" x="${x.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="4"></rect>`;
    })}
  </svg>`;
}
