import { sanitizeLine } from "../../../base/sanitize.ts";
import { prose, renderTable } from "../elements.ts";
import { type Html, html } from "../markup.ts";
import type { PlotArea } from "./axes.ts";

/** Names of the colours of lines, bars and dots. Some lines are also dashed, for readers who cannot see colours. */
export const seriesColours = ["first", "second", "third", "fourth", "good", "bad", "quiet"] as const;
export type SeriesColour = (typeof seriesColours)[number];

/** The data of a chart as a table, for people who cannot see the chart. */
interface ChartTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface LegendEntry {
  readonly name: string;
  readonly tone: SeriesColour;
  readonly sign: "line" | "dashed" | "dot" | "ring" | "cross" | "bar" | "band" | "tick";
}

export interface ChartParts {
  readonly title: string;
  readonly says: string;
  readonly legend: readonly LegendEntry[];
  readonly table: ChartTable;
  readonly plot: PlotArea;
  readonly drawing: Html;
}

const maxTableRows = 60;

export function renderChart({ title, says, legend, table, plot, drawing }: ChartParts): Html {
  const [name, sentence] = [sanitizeLine(title, 160), sanitizeLine(says, 600)];
  return html`<figure class="chart">
    <figcaption><strong>${name}</strong> <span>${prose(says)}</span></figcaption>
    <svg role="img" aria-label="${name}. ${sentence}" viewBox="0 0 ${plot.width} ${plot.height}">${drawing}</svg>
    ${legend.length > 1 ? legendList(legend) : null} ${table.rows.length === 0 ? null : dataTable(name, table)}
  </figure>`;
}

const legendList = (legend: readonly LegendEntry[]): Html =>
  html`<ul class="legend">
    ${legend.map(
      ({ name, tone, sign }) =>
        html`<li>
          <svg aria-hidden="true" viewBox="0 0 22 12" class="${tone}">${legendSign(sign)}</svg>${sanitizeLine(name, 80)}
        </li>`,
    )}
  </ul>`;

function legendSign(sign: LegendEntry["sign"]): Html {
  switch (sign) {
    case "line":
      return html`<path class="line" d="M1 6H21" />`;
    case "dashed":
      return html`<path class="line dashed" d="M1 6H21" />`;
    case "dot":
      return html`<circle class="dot" cx="11" cy="6" r="4" />`;
    case "ring":
      return html`<circle class="ring" cx="11" cy="6" r="4" />`;
    case "cross":
      return html`<path class="cross" d="M7 2l8 8m0-8l-8 8" />`;
    case "bar":
      return html`<rect class="bar" x="5" y="0" width="12" height="12" />`;
    case "band":
      return html`<rect class="band" x="1" y="1" width="20" height="10" />`;
    case "tick":
      return html`<path class="line" d="M11 1V11" />`;
  }
}

function dataTable(name: string, { head, rows }: ChartTable): Html {
  const shown = rows.slice(0, maxTableRows).map((row) => row.map(formatCell));
  const hiddenCount = rows.length - shown.length;
  const cells = head.map((each) => sanitizeLine(each, 80));
  return html`<details class="figure-table">
    <summary>The data as a table</summary>
    ${renderTable(`Data: ${name}`, cells, shown)}
    ${hiddenCount > 0 ? html`<p class="muted small">and ${hiddenCount} more rows</p>` : null}
  </details>`;
}

const formatCell = (cell: string | number): string => sanitizeLine(String(cell), 120);

/** The style sheet of charts. It must come after `baseStyle`. */
export const chartStyle = `
:root { --tone-first: #0a57a4; --tone-second: #b4530a; --tone-third: #6a3fb5; --tone-fourth: #0f766e; --tone-good: #14663a; --tone-bad: #b01620;
  --tone-quiet: #6a7380; }
@media (prefers-color-scheme: dark) { :root { --tone-first: #7ab8ff; --tone-second: #ffab5c; --tone-third: #c3a8ff; --tone-fourth: #5cd6c4;
  --tone-good: #6bd396; --tone-bad: #ff8e8e; --tone-quiet: #98a2b0; } }
.charts { margin-block: 0.75rem; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; }
.chart { margin: 0; padding: 0.9rem 1rem; border: 1px solid var(--line); border-radius: 12px; background: var(--raised); min-width: 0; }
.chart figcaption { font-size: 0.88rem; color: var(--muted); line-height: 1.4; margin-bottom: 0.6rem; }
.chart figcaption strong { display: block; color: var(--ink); font-size: 0.98rem; }
.chart > svg { display: block; width: 100%; height: auto; overflow: visible; }
.chart text { font: 17px var(--sans); fill: var(--muted); font-variant-numeric: tabular-nums; }
.chart text.y { text-anchor: end; dominant-baseline: central; }
.chart text.x { text-anchor: middle; }
.chart text.end { text-anchor: end; }
.chart text.rule { fill: var(--ink); paint-order: stroke; stroke: var(--raised); stroke-width: 4px; stroke-linejoin: round; }
.chart .grid { stroke: var(--line); fill: none; }
.chart .axis { stroke: var(--strong-line); fill: none; }
.chart .line { fill: none; stroke: currentcolor; stroke-width: 2.2; stroke-linejoin: round; }
.chart .thin { stroke-width: 1.2; }
.chart .dashed { stroke-dasharray: 7 5; stroke-width: 1.6; }
.chart .line.second { stroke-dasharray: 9 3; } .chart .line.third { stroke-dasharray: 3 3; } .chart .line.fourth { stroke-dasharray: 10 3 2 3; }
.chart .dots { fill: none; stroke: currentcolor; stroke-width: 6; stroke-linecap: round; }
.chart .dot { fill: currentcolor; } .chart .ring { fill: var(--raised); stroke: currentcolor; stroke-width: 2; }
.chart .cross { fill: none; stroke: currentcolor; stroke-width: 1.8; }
.chart .bar { fill: currentcolor; } .chart .bar.second, .chart .second .bar { fill-opacity: 0.75; }
.chart .band { fill: currentcolor; fill-opacity: 0.16; stroke: none; }
.chart .first { color: var(--tone-first); } .chart .second { color: var(--tone-second); } .chart .third { color: var(--tone-third); }
.chart .fourth { color: var(--tone-fourth); } .chart .good { color: var(--tone-good); } .chart .bad { color: var(--tone-bad); }
.chart .quiet { color: var(--tone-quiet); }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.1rem; list-style: none; margin: 0.5rem 0 0; padding: 0; font-size: 0.85rem; }
.legend svg { width: 22px; height: 12px; margin-right: 0.4rem; vertical-align: -1px; }
.figure-table { margin-top: 0.5rem; font-size: 0.88rem; }
.figure-table table { font-size: 0.84rem; }
.figure-table th, .figure-table td { padding: 0.35rem 0.6rem; white-space: nowrap; }
.figure-table .table-box { margin-top: 0.4rem; max-height: 22rem; overflow: auto; }
@media (max-width: 40rem) { .chart { padding: 0.8rem; } .chart text { font-size: 26px; } .chart .dots { stroke-width: 9; } }
@media print {
  :root { --tone-first: #003d7a; --tone-second: #8a3d00; --tone-third: #4a2c86; --tone-fourth: #0a4f49; --tone-good: #0d5a30; --tone-bad: #9c0f19;
    --tone-quiet: #555; }
  .charts { grid-template-columns: 1fr 1fr; }
  .figure-table { display: none; }
}
`;
