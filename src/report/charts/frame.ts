import { harmlessLine } from "../../base/harmless.ts";
import { type Html, html } from "../html/markup.ts";
import type { Scale } from "./scale.ts";

/** One axis: what it measures, with the unit, and how a tick is written. */
export interface Axis {
  readonly label: string;
  readonly format: (value: number) => string;
}

/** The rectangle that data are drawn in, in units of the drawing; text around it keeps its size on a phone, so margins are wide. */
export interface Plot {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export const plotOf = (height: number, left = 66): Plot => ({
  width: 640,
  height,
  left,
  right: 626,
  top: 30,
  bottom: height - 60,
});

/** Short numbers: a drawing of a thousand points has a thousand of them. */
export const px = (value: number): string => String(Math.round(value * 10) / 10);

export const xIn = ({ left, right }: Plot, share: number): number => left + share * (right - left);
export const yIn = ({ top, bottom }: Plot, share: number): number => bottom - share * (bottom - top);

/** Labels closer than this would touch on a phone. */
const leastGap = 92;

/** Grid, ticks and names of both axes. */
export function axes(plot: Plot, x: Axis & { readonly scale: Scale }, y: Axis & { readonly scale: Scale }): Html {
  return html`<g class="axes"
    >${y.scale.ticks.map((tick) => {
      const at = px(yIn(plot, y.scale.at(tick)));
      return html`<path class="grid" d="M${plot.left} ${at}H${plot.right}" /><text
          x="${plot.left - 8}"
          y="${at}"
          class="y"
          >${y.format(tick)}</text
        >`;
    })}<text x="2" y="14" class="name">${harmlessLine(y.label, 60)}</text>${xAxis(plot, x)}</g
  >`;
}

/** Ticks and name of a horizontal axis alone. */
export function xAxis(plot: Plot, { label, format, scale }: Axis & { readonly scale: Scale }): Html {
  let last = -Infinity;
  const shown = scale.ticks
    .map((tick) => ({ tick, at: xIn(plot, scale.at(tick)) }))
    .filter(({ at }) => {
      if (at - last < leastGap) return false;
      last = at;
      return true;
    });
  return html`<path class="axis" d="M${plot.left} ${plot.bottom}H${plot.right}" />${shown.map(
      ({ tick, at }) =>
        html`<path class="axis" d="M${px(at)} ${plot.bottom}v5" /><text x="${px(at)}" y="${plot.bottom + 24}" class="x"
            >${format(tick)}</text
          >`,
    )}<text x="${plot.right}" y="${plot.height - 5}" class="name end">${harmlessLine(label, 80)}</text>`;
}
