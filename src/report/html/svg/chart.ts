import { sanitizeLine } from "../../../base/sanitize.ts";
import { prose, renderTable } from "../elements.ts";
import { type Html, html } from "../markup.ts";

/**
 * Names of the styles of lines, bars and dots. Each style combines a colour with a dash or a shape, so that colour is not the only sign.
 */
export const tones = ["first", "second", "third", "fourth", "good", "bad", "quiet"] as const;
export type Tone = (typeof tones)[number];

/** The data of a chart as a table, for people who cannot see the chart. */
export interface ChartTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface LegendEntry {
  readonly name: string;
  readonly tone: Tone;
  readonly sign: "line" | "dashed" | "dot" | "ring" | "cross" | "bar" | "band" | "tick";
}

export interface ChartParts {
  readonly title: string;
  /** A description of the chart, in a sentence or two. */
  readonly says: string;
  readonly legend: readonly LegendEntry[];
  readonly table: ChartTable;
  /** Height of the drawing in SVG units. `width`: its width. */
  readonly height: number;
  readonly width: number;
  readonly drawing: Html;
}

const maxTableRows = 60;

/** Renders a chart with its title, description and legend, and its data as a table. The texts may come from outside. */
export function renderChart({ title, says, legend, table, height, width, drawing }: ChartParts): Html {
  const [name, sentence] = [sanitizeLine(title, 160), sanitizeLine(says, 600)];
  return html`<figure class="chart">
    <figcaption><strong>${name}</strong> <span>${prose(says)}</span></figcaption>
    <svg role="img" aria-label="${name}. ${sentence}" viewBox="0 0 ${width} ${height}">${drawing}</svg>
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
  const shown = rows.slice(0, maxTableRows).map(
    ([first = "", ...rest]) =>
      html`<tr>
        <th scope="row">${formatCell(first)}</th>
        ${rest.map((each) => html`<td>${formatCell(each)}</td>`)}
      </tr>`,
  );
  const hiddenCount = rows.length - shown.length;
  const cells = head.map((each) => sanitizeLine(each, 80));
  return html`<details class="figure-table">
    <summary>The data as a table</summary>
    ${renderTable(`Data: ${name}`, cells, shown)}
    ${hiddenCount > 0 ? html`<p class="muted small">and ${hiddenCount} more rows</p>` : null}
  </details>`;
}

const formatCell = (cell: string | number): string => sanitizeLine(String(cell), 120);
