import {
  screenReaderHead,
  numberColumnHead,
  prose,
  scrollableTable,
  tableHead,
  renderTable,
  tableRow,
  notesList,
} from "../html/elements.ts";
import { formatShares } from "../model/profiles.ts";
import { type Html, html } from "../html/markup.ts";
import { renderPage } from "../html/page.ts";
import type { Comparison, ComparedSide } from "./comparison.ts";
import {
  type ClauseWithResults,
  type LabelledText,
  formatChangeCounts,
  type ComparisonSection,
  comparisonSections,
  formatComparedReport,
  formatRegressionCount,
} from "./sections.ts";
import { type TrialMetrics, groupMetricsByTrial } from "./load-metrics.ts";

export function renderComparisonPage(found: Comparison): string {
  const words = formatRegressionCount(found);
  const isFine = found.regressions.length === 0;
  return renderPage({
    title: `${words}: ${formatComparedReport(found.newer)}`,
    styles: [comparisonStyle],
    body: html`<a class="skip-link" href="#content">Skip to what changed</a>
      <header class="wide">
        <h1>What changed between two reports</h1>
        <div class="banner ${isFine ? "pass" : "fail"}">
          <p class="word">${isFine ? "✓" : "✕"} ${prose(words)}</p>
          <p>${formatChangeCounts(found)}</p>
        </div>
        ${comparedReportsTable(found)} ${notesList(found.notes, "Notes to read first")}
      </header>
      <main id="content">
        ${regressionsSection(found)} ${comparisonSections(found).map(sectionHtml)} ${loadSection(found)}
        <footer>
          Compared by agent-hosting-conformance. <code>--regression</code> sets what counts as a regression.
        </footer>
      </main>`,
  });
}

const comparisonStyle = `
header.wide { padding-block: 1.5rem 0; }
h1 { margin-bottom: 0.9rem; }
.sides { margin-block: 1rem; }
.notes { margin-block: 1rem; padding: 0.6rem 1.2rem 0.6rem 2.2rem; background: var(--note-soft); border-radius: 10px; }
.notes li { margin-block: 0.25rem; }
.entry { margin-block: 0.9rem; }
.entry h3 { font-weight: 650; }
.entry .says { margin: 0.15rem 0 0.5rem; color: var(--muted); }
.rows { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.2rem 1rem; margin: 0.3rem 0 0.6rem; }
.rows dt { color: var(--muted); }
.rows dd { margin: 0; overflow-wrap: anywhere; }
.section-bad > h2 { color: var(--fail); }
.section-good > h2 { color: var(--pass); }
tr.load > th { background: var(--accent-soft); }
tbody th[scope="row"] { font-weight: 400; }
.sides tbody th[scope="row"] { font-weight: 600; }
`;

function comparedReportsTable({ older, newer }: Comparison): Html {
  const rows: readonly (readonly [string, (side: ComparedSide) => string])[] = [
    ["target", ({ target }) => target.name],
    ["base URL", ({ target }) => target.baseUrl],
    ["fingerprint", ({ target }) => target.fingerprint],
    ["started", ({ started }) => started],
    ["verdict", ({ verdict }) => verdict],
    ["covered", ({ coverage }) => formatShares(coverage)],
    ["requirement set", ({ suite }) => suite.requirements],
    ["suite", ({ suite }) => `${suite.version}, clauses ${suite.clauses}`],
  ];
  const cells = rows.map(([name, of]) => [name, ...[older, newer].map((side) => prose(of(side) || "none"))]);
  return html`<div class="sides">
    ${renderTable("The two reports", [[screenReaderHead("what"), ""], "old", "new"], cells)}
  </div>`;
}

const regressionsSection = ({ regressions: all }: Comparison): Html | null =>
  all.length === 0
    ? null
    : html`<section class="section-bad">
        <h2>Regressions: ${all.length}</h2>
        <ul>
          ${all.map(({ kind, says }) => html`<li><span class="badge fail">${kind}</span> ${prose(says)}</li>`)}
        </ul>
      </section>`;

function sectionHtml({ title, tone, count, entries, lines }: ComparisonSection): Html {
  return html`<section class="section-${tone}">
    <h2>${title}: ${count}</h2>
    ${entries.map(clauseArticle)} ${lines.length === 0 ? null : labelledTextList(lines)}
  </section>`;
}

const clauseArticle = ({ clause, level, says, cases }: ClauseWithResults): Html =>
  html`<article class="entry">
    <h3>${clause} <span class="badge">${level}</span></h3>
    ${says === "" ? null : html`<p class="says">${prose(says)}</p>`}
    ${cases.map(({ checks, rows }) => [
      checks === clause ? null : html`<p class="small">${prose(checks)}</p>`,
      rows.length === 0 ? null : labelledTextList(rows),
    ])}
  </article>`;

const labelledTextList = (rows: readonly LabelledText[]): Html =>
  html`<dl class="rows">
    ${rows.map(
      ({ label, text }) =>
        html`<dt>${label}</dt>
          <dd>${prose(text)}</dd>`,
    )}
  </dl>`;

function loadSection(found: Comparison): Html | null {
  const groups = groupMetricsByTrial(found);
  if (groups.length === 0) return null;
  return html`<section class="section-plain">
    <h2>Load</h2>
    ${scrollableTable(
      "Load metrics, old and new",
      html`<table>
        ${tableHead(metricColumns.map(([head]) => head))} ${groups.map(trialTableBody)}
      </table>`,
    )}
  </section>`;
}

const metricColumns = [
  ["metric", ""],
  ...["old", "new", "change"].map((head) => [numberColumnHead(head), "number"] as const),
] as const;

const trialTableBody = ({ load, rows }: TrialMetrics): Html =>
  html`<tbody>
    <tr class="load">
      <th scope="rowgroup" colspan="4">${load}</th>
    </tr>
    ${rows.map((row) => tableRow(metricColumns, row))}
  </tbody>`;
