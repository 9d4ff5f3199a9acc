import { sanitizeLine } from "../../../base/sanitize.ts";
import { type Html, html } from "../markup.ts";
import { renderChart, type ChartTable, type Legend, type Tone } from "./chart.ts";
import { type Axis, type Plot, px, xAxis, xIn, type Scale } from "./axes.ts";

/** A mark on a time axis. `from` and `to` differ if the time of the event is not known exactly. */
export interface Mark {
  readonly from: number;
  readonly to: number;
  readonly tone: Tone;
  readonly sign: "dot" | "ring" | "cross" | "tick";
}

export interface TimelineRow {
  readonly name: string;
  /** A line behind the marks of the row; `null` for none. */
  readonly line: { readonly from: number; readonly to: number } | null;
  readonly marks: readonly Mark[];
}

export interface TimelineChart {
  readonly title: string;
  readonly says: string;
  readonly x: Axis & { readonly scale: Scale };
  readonly rows: readonly TimelineRow[];
  readonly legend: readonly Legend[];
  readonly table: ChartTable;
}

const rowHeight = 56;

/** Renders rows of marks over a common time axis. The name of a row is above its marks, so that a phone has room for it. */
export function timeline({ title, says, x, rows, legend, table }: TimelineChart): Html {
  const height = rows.length * rowHeight + 80;
  const plot: Plot = { width: 640, height, left: 14, right: 620, top: 8, bottom: height - 60 };
  const drawing = html`${xAxis(plot, x)}${x.scale.ticks.map((tick) => {
    const at = px(xIn(plot, x.scale.at(tick)));
    return html`<path class="grid" d="M${at} ${plot.top}V${plot.bottom}" />`;
  })}${rows.map((row, index) => rowOf(row, plot.top + index * rowHeight, plot, x.scale))}`;
  return renderChart({ title, says, legend, table, width: plot.width, height, drawing });
}

function rowOf({ name, line, marks }: TimelineRow, top: number, plot: Plot, scale: Scale): Html {
  const y = top + 40;
  const at = (time: number): string => px(xIn(plot, scale.at(time)));
  return html`<text x="${plot.left}" y="${top + 24}" class="rule">${sanitizeLine(name, 56)}</text
    >${line === null ? null : html`<path class="line thin quiet" d="M${at(line.from)} ${y}H${at(line.to)}" />`}${marks.map((mark) => markOf(mark, y, at))}`;
}

function markOf({ from, to, tone, sign }: Mark, y: number, at: (time: number) => string): Html {
  const span =
    to > from && html`<path class="band ${tone}" d="M${at(from)} ${y - 6}H${at(to)}V${y + 6}H${at(from)}Z" />`;
  return html`${span}${signAt(sign, tone, at(to), y)}`;
}

function signAt(sign: Mark["sign"], tone: Tone, x: string, y: number): Html {
  switch (sign) {
    case "dot":
      return html`<circle class="dot ${tone}" cx="${x}" cy="${y}" r="5" />`;
    case "ring":
      return html`<circle class="ring ${tone}" cx="${x}" cy="${y}" r="5" />`;
    case "cross":
      return html`<path class="cross ${tone}" d="M${x} ${y}m-4.5-4.5l9 9m0-9l-9 9" />`;
    case "tick":
      return html`<path class="line ${tone}" d="M${x} ${y - 7}v14" />`;
  }
}
