import { formatNumber } from "../../base/numbers.ts";
import { type AgentStreaming, streamingOf } from "../model/streaming.ts";
import { mapJudged, type Vendor } from "./vendor.ts";

/** A figure of the streaming quality, for the agent of each vendor with the most streams. */
export interface StreamingRow {
  readonly name: string;
  /** The figure by vendor; `null` if there is none, or the vendor was not judged. */
  readonly cells: readonly (string | null)[];
}

interface StreamingFigure {
  readonly name: string;
  readonly textOf: (quality: AgentStreaming) => string | null;
}

/** The figures that are not among the times, which have the first content and the gaps. */
const streamingFigures: readonly StreamingFigure[] = [
  {
    name: "longest gap",
    textOf: ({ gapMs }) => (gapMs === null ? null : `${formatNumber(Math.round(gapMs.max))} ms`),
  },
  {
    name: "content a second",
    textOf: ({ perSecond }) =>
      perSecond === null ? null : `${formatNumber(Math.round(perSecond.median))} ${perSecond.unit}`,
  },
  { name: "streams that come all at once", textOf: ({ lumps, streams }) => `${lumps} of ${streams}` },
];

/** Returns rows with the streaming quality of each vendor. Empty if no vendor has streams. */
export function streamingRows(vendors: readonly Vendor[]): StreamingRow[] {
  const qualities = mapJudged(vendors, ({ document }) => streamingOf(document.evidence?.exchanges ?? [])[0] ?? null);
  return streamingFigures
    .map(({ name, textOf }) => ({ name, cells: qualities.map((each) => (each === null ? null : textOf(each))) }))
    .filter(({ cells }) => cells.some((cell) => cell !== null));
}
