/** Dates, durations and ports of loopback: what two runs of the same server say differently. Status codes and counts are none of them. */
const passing: readonly RegExp[] = [
  /\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g,
  /\d+(?:[.,]\d+)*(?= ?(?:µs|ms|s|seconds?|milliseconds?|min|minutes?|h|hours?)\b)/g,
  /(?<=\b(?:127\.0\.0\.1|localhost|\[::1\]):)\d+/g,
];

/** Shapes of windows, as the observations of limiters name those that explain what was seen. */
export const windowShapes = ["rolling", "fixed", "anchored", "pushed", "weighted", "bucket"] as const;
const shape = `(?:${windowShapes.join("|")})`;
const shapes = new RegExp(`\\b${shape}\\b(?:(?:, | or )${shape}\\b)*`, "g");

/**
 * Whether two texts of an observation can come of the same behaviour: they differ in no more than times and dates, or in how many shapes of
 * windows the evidence left open.
 */
export function isEquivalentText(was: string, is: string): boolean {
  if (withoutPassing(was) !== withoutPassing(is)) return false;
  const [before, after] = [shapesIn(was), shapesIn(is)];
  return before.every((open, at) => !open.isDisjointFrom(after[at] ?? open));
}

const withoutPassing = (text: string): string =>
  [...passing, shapes].reduce((shorter, pattern) => shorter.replace(pattern, "…"), text);

const shapesIn = (text: string): Set<string>[] =>
  [...text.matchAll(shapes)].map(([list]) => new Set(list.split(/, | or /)));
