/** The equal parts of a load, and their sequence, as k6's `--execution-segment` and `--execution-segment-sequence` want them. */
export interface Segments {
  /** `0:1/2`, `1/2:1` */
  readonly parts: readonly string[];
  /** `0,1/2,1` */
  readonly sequence: string;
}

/** Cuts a load into so many equal parts. */
export function segmentsOf(count: number): Segments {
  const points = Array.from({ length: count + 1 }, (_, at) => pointOf(at, count));
  return {
    parts: points.slice(1).map((end, at) => `${points[at]}:${end}`),
    sequence: points.join(","),
  };
}

const pointOf = (at: number, count: number): string => (at === 0 ? "0" : at === count ? "1" : `${at}/${count}`);
