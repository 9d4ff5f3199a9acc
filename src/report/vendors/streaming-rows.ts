import { formatNumber } from "../../base/numbers.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import { type AgentStreaming, formatRate, streamingOf } from "../model/streaming.ts";
import { mapJudged, type Vendor, type VendorWithReport } from "./vendor.ts";

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
    textOf: formatRate,
  },
  { name: "streams that come all at once", textOf: ({ lumps, streams }) => `${lumps} of ${streams}` },
];

/** Returns the streaming quality of a vendor's agent with the most streams; `null` if the vendor has no streams. */
export const streamingOfMainAgent = memoizeByObject(
  ({ document }: VendorWithReport): AgentStreaming | null => streamingOf(document.evidence?.exchanges ?? [])[0] ?? null,
);

/** Returns rows with the streaming quality of each vendor. Empty if no vendor has streams. */
export function streamingRows(vendors: readonly Vendor[]): StreamingRow[] {
  const qualities = mapJudged(vendors, streamingOfMainAgent);
  return streamingFigures
    .map(({ name, textOf }) => ({ name, cells: qualities.map((each) => (each === null ? null : textOf(each))) }))
    .filter(({ cells }) => cells.some((cell) => cell !== null));
}
