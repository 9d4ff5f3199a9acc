import { harmlessLine } from "../base/harmless.ts";
import { loadName } from "../report/load-name.ts";
import type { Comparison } from "./comparison.ts";
import { figureText, shareText } from "./figure-text.ts";
import type { LoadFigure } from "./comparison.ts";

/** Cells of one figure of load. */
export interface LoadRow {
  readonly figure: string;
  readonly was: string;
  readonly is: string;
  /** By how much it changed; where the two cannot be laid side by side, that. */
  readonly change: string;
}

/** One scenario on one tier by one engine. */
export interface LoadGroup {
  readonly load: string;
  readonly rows: readonly LoadRow[];
}

export const loadGroups = ({ loadFigures }: Pick<Comparison, "loadFigures">): LoadGroup[] =>
  [...Map.groupBy(loadFigures, (figure) => harmlessLine(loadName(figure), 80))].map(([load, figures]) => ({
    load,
    rows: figures.map(rowOf),
  }));

const rowOf = (figure: LoadFigure): LoadRow => ({
  figure: figure.name,
  was: figureText(figure.was, figure.unit),
  is: figureText(figure.is, figure.unit),
  change: figure.doubt === null ? shareText(figure) : "not comparable",
});
