import { sanitizeLine } from "../../../base/sanitize.ts";
import { type Html, html } from "../markup.ts";
import { type ChartParts, renderChart, type SeriesColour } from "./chart.ts";
import { type Axis, type PlotArea, formatCoordinate, drawXAxis, xAt, type Scale } from "./axes.ts";

/** A mark in a row of a timeline. `from` and `to` differ if the exact time of the event is unknown. */
export interface TimelineMark {
  readonly from: number;
  readonly to: number;
  readonly tone: SeriesColour;
  readonly sign: "dot" | "ring" | "cross" | "tick";
}

export interface TimelineRow {
  readonly name: string;
  readonly line: { readonly from: number; readonly to: number };
  readonly marks: readonly TimelineMark[];
}

interface TimelineChart extends Pick<ChartParts, "title" | "says" | "legend" | "table"> {
  readonly x: Axis & { readonly scale: Scale };
  readonly rows: readonly TimelineRow[];
}

const rowHeight = 56;

export function renderTimeline({ title, says, x, rows, legend, table }: TimelineChart): Html {
  const height = rows.length * rowHeight + 80;
  const plot: PlotArea = { width: 640, height, left: 14, right: 620, top: 8, bottom: height - 60 };
  const drawing = html`${drawXAxis(plot, x)}${x.scale.ticks.map((tick) => {
    const at = formatCoordinate(xAt(plot, x.scale.at(tick)));
    return html`<path class="grid" d="M${at} ${plot.top}V${plot.bottom}" />`;
  })}${rows.map((row, index) => drawRow(row, plot.top + index * rowHeight, plot, x.scale))}`;
  return renderChart({ title, says, legend, table, plot, drawing });
}

function drawRow({ name, line, marks }: TimelineRow, top: number, plot: PlotArea, scale: Scale): Html {
  const y = top + 40;
  const at = (time: number): string => formatCoordinate(xAt(plot, scale.at(time)));
  const path = html`<path class="line thin quiet" d="M${at(line.from)} ${y}H${at(line.to)}" />`;
  return html`<text x="${plot.left}" y="${top + 24}" class="rule">${sanitizeLine(name, 56)}</text
    >${path}${marks.map((mark) => drawMark(mark, y, at))}`;
}

function drawMark({ from, to, tone, sign }: TimelineMark, y: number, at: (time: number) => string): Html {
  const span =
    to > from && html`<path class="band ${tone}" d="M${at(from)} ${y - 6}H${at(to)}V${y + 6}H${at(from)}Z" />`;
  return html`${span}${drawSign(sign, tone, at(to), y)}`;
}

function drawSign(sign: TimelineMark["sign"], tone: SeriesColour, x: string, y: number): Html {
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
