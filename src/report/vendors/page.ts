import { formatShares } from "../model/profiles.ts";
import { prose, outcomeBadge, screenReaderHead, tableHead, notesList } from "../html/elements.ts";
import type { VendorComparison, VendorSummary } from "./comparison.ts";
import { formatDifference, formatSwitch, switchesLead, switchesTitle } from "./switches.ts";
import {
  questionsIntro,
  questionsTitle,
  formatClauseCounts,
  comparisonNotes,
  formatOverview,
  formatLoad,
} from "./summary.ts";
import { verdictMarks } from "../model/verdict.ts";
import { verdictTexts } from "../html/sections/verdict.ts";
import { formatCount } from "../../base/text.ts";
import { type Html, html } from "../html/markup.ts";
import { renderPage } from "../html/page.ts";
import { vendorsPageScript, vendorsPageStyle } from "./page-style.ts";
import { type VendorRowGroup, type VendorCell, type VendorRow, type VendorTable, vendorTables } from "./tables.ts";
import { dayOf } from "../../base/duration.ts";

/** Renders a vendor comparison as one HTML page, which is readable without scripts. */
export function renderVendorsPage(all: VendorComparison): string {
  const [notes, parts] = [comparisonNotes(all), pageParts(all)];
  return renderPage({
    title: `Comparison of vendors: ${all.vendors.map(({ name }) => name).join(", ")}`,
    styles: [vendorsPageStyle],
    script: vendorsPageScript,
    body: html`<a class="skip-link" href="#content">Skip to the tables</a>
      <header class="wide">
        <h1>Comparison of vendors</h1>
        <p class="lead">${formatOverview(all)}</p>
        <ul class="heads">
          ${all.vendors.map(vendorHeading)}
        </ul>
        ${notesList(notes, "To know before comparing")}
      </header>
      <main id="content">
        <div class="controls">
          <span id="filter" hidden>
            <button type="button" id="differences-only" aria-pressed="false">Differences only</button>
            <span id="shown" class="muted small" aria-live="polite"></span>
          </span>
          <nav aria-label="Parts of the page">${parts.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}</nav>
        </div>
        ${parts.map(({ content }) => content)}
        <footer>
          Made by agent-hosting-conformance on ${all.made.slice(0, 16).replace("T", " ")} UTC, of
          ${formatCount(all.vendors.length, "deployment")}.
        </footer>
      </main>`,
  });
}

function pageParts(all: VendorComparison): PagePart[] {
  const tables = vendorTables(all).map((table) => ({ ...table, content: tableHtml(table, all.vendors) }));
  const isFirst = ({ id }: VendorTable): boolean => id === "profiles" || id === "broken";
  return [
    ...tables.filter(isFirst),
    ...questionsHtml(all),
    ...switchesHtml(all),
    ...tables.filter((table) => !isFirst(table)),
  ];
}

function tableHtml({ id, title, lead, groups }: VendorTable, vendors: readonly VendorSummary[]): Html {
  const names = vendors.map(({ name }) => name);
  const hasIds = id === "broken" || id === "clauses" || id === "readings" || id === "silence";
  const isWhole = id === "profiles" || id === "broken" || id === "times" || id === "streaming" || id === "load";
  const printable = groups.flatMap(({ rows }) => rows.filter((row) => isWhole || row.differs === true));
  const unprinted = new Set(printable.slice(maxPrintedRows(vendors)));
  const note = unprinted.size === 0 ? null : `${formatCount(unprinted.size, "more row")} on the page itself.`;
  return html`<section
    id="${id}"
    ${!isWhole && html` class="differences"`}${note !== null && html` data-unprinted="${note}"`}
  >
    <h2>${title}</h2>
    <p class="muted">${lead}</p>
    <div class="table-box matrix" role="region" aria-label="${title}" tabindex="0">
      <table>
        <colgroup>
          <col class="what" />
          ${vendors.map(({ kind }) => html`<col class="${kind === "judged" ? "vendor" : "unjudged"}" />`)}
        </colgroup>
        ${tableHead([screenReaderHead(title), ...names])}
        ${groups.map((group) => groupTableBody(group, names.length + 1, hasIds, unprinted))}
      </table>
    </div>
  </section>`;
}

/**
 * Returns the maximum number of rows of one table to print on paper. The whole comparison should print on at most four
 * pages per vendor.
 */
const maxPrintedRows = (vendors: readonly VendorSummary[]): number => Math.max(12, 6 * vendors.length);

const differenceClass = (differs: boolean): string => (differs ? "differs" : "same");

function groupTableBody(
  { title, rows }: VendorRowGroup,
  columns: number,
  hasIds: boolean,
  unprinted: ReadonlySet<VendorRow>,
): Html {
  const body = rows.map((row) => rowHtml(row, hasIds, unprinted.has(row)));
  if (title === "")
    return html`<tbody>
      ${body}
    </tbody>`;
  const differing = rows.filter(({ differs }) => differs === true);
  const isUnprinted = differing.length > 0 && differing.every((row) => unprinted.has(row));
  return html`<tbody class="${differenceClass(differing.length > 0)}${isUnprinted && " unprinted"}">
    <tr class="rows-of">
      <th scope="rowgroup" colspan="${columns}">${title}</th>
    </tr>
    ${body}
  </tbody>`;
}

function rowHtml(
  { name, level = "", detail = "", cells, differs }: VendorRow,
  hasId: boolean,
  isUnprinted: boolean,
): Html {
  const content = html`<th scope="row" class="row-head">
      ${hasId ? html`<code>${name}</code>` : name}${level !== "" && html` <span class="muted small">${level}</span>`}
      ${differs === true && html`<span class="apart">≠ differs</span>`}
      ${detail !== "" && html`<span class="says">${prose(detail)}</span>`}
    </th>
    ${cells.map((cell) => html`<td>${cellHtml(cell)}</td>`)}`;
  return differs === null
    ? html`<tr>
        ${content}
      </tr>`
    : html`<tr data-row class="${differenceClass(differs)}${isUnprinted && " unprinted"}">
        ${content}
      </tr>`;
}

function cellHtml(cell: VendorCell): Html {
  if (cell.kind === "empty") return html`<span class="nothing">${cell.text}</span>`;
  if (cell.kind === "text") return html`<span class="words">${prose(cell.text)}</span>`;
  return html`${outcomeBadge(cell.outcome)}${cell.text !== "" && html`<p>${prose(cell.text)}</p>`}`;
}

function vendorHeading(head: VendorSummary): Html {
  if (head.kind === "unjudged")
    return html`<li class="head">
      <h2>${head.name}</h2>
      <p class="word">– not judged</p>
      ${head.baseUrl !== null && html`<p class="muted"><code>${head.baseUrl}</code></p>`}
      <p>${prose(head.reason)}</p>
    </li>`;
  const covered = formatShares(head.coverage);
  return html`<li class="head ${verdictTexts[head.verdict].tone}">
    <h2>${head.name}</h2>
    <p class="word">${verdictMarks[head.verdict]} ${head.verdict}</p>
    ${clauseCountsBar(head)}
    <p>${formatClauseCounts(head)}</p>
    ${covered !== "" && html`<p class="muted">Covered: ${covered}</p>`}
    ${head.load !== null && html`<p>Under load: ${formatLoad(head)}</p>`}
    <p class="muted"><code>${head.baseUrl}</code></p>
    <p class="muted">${formatVendorFacts(head)}</p>
  </li>`;
}

const formatVendorFacts = ({ tiers, requests, started, isKept }: Extract<VendorSummary, { kind: "judged" }>): string =>
  [
    ...(tiers.length === 0 ? [] : [`tiers ${tiers.join(", ")}`]),
    `${requests} requests`,
    ...(isKept ? [`report of ${dayOf(started)}`] : []),
  ].join(" · ");

function clauseCountsBar({ clauses }: Extract<VendorSummary, { kind: "judged" }>): Html {
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
      // A part of the bar is at least 1.5 of 100 units wide, so that a small count stays visible.
      const width = count === 0 ? 0 : Math.max(1.5, (100 * count) / all);
      from += width;
      return html`<rect class="${name}" x="${x.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="4"></rect>`;
    })}
  </svg>`;
}

interface PagePart {
  readonly id: string;
  readonly title: string;
  readonly content: Html;
}

function questionsHtml({ vendors, questions }: VendorComparison): PagePart[] {
  const lists = vendors.flatMap(({ name }, at) => {
    const ofVendor = questions[at] ?? [];
    return ofVendor.length === 0
      ? []
      : [
          html`<div class="asked">
            <h3>${name}</h3>
            <ol>
              ${ofVendor.map(({ text }) => html`<li><span class="words">${prose(text, 1500)}</span></li>`)}
            </ol>
          </div>`,
        ];
  });
  if (lists.length === 0) return [];
  const content = html`<section id="questions">
    <h2>${questionsTitle}</h2>
    <p class="muted">${questionsIntro}</p>
    ${lists}
  </section>`;
  return [{ id: "questions", title: questionsTitle, content }];
}

function switchesHtml({ switches }: VendorComparison): PagePart[] {
  if (switches.length === 0) return [];
  const content = html`<section id="switches">
    <h2>${switchesTitle}</h2>
    <p class="muted">${prose(switchesLead)}</p>
    ${switches.map(
      (each) =>
        html`<details class="switch">
          <summary>${formatSwitch(each)}</summary>
          <ul>
            ${each.differences.map((difference) => html`<li>${prose(formatDifference(difference), 1500)}</li>`)}
          </ul>
        </details>`,
    )}
  </section>`;
  return [{ id: "switches", title: switchesTitle, content }];
}
