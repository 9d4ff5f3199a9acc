/**
 * Matches dates, durations and loopback ports, which differ between two runs on the same server. Status codes and counts do not, so they are not
 * matched.
 */
const volatile: readonly RegExp[] = [
  /\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g,
  /\d+(?:[.,]\d+)*(?= ?(?:µs|ms|s|seconds?|milliseconds?|min|minutes?|h|hours?)\b)/g,
  // A duration whose unit the document leaves open (WHK-10) differs by its value, too.
  /\d+(?:\.\d+)?(?:e[+-]?\d+)?(?= without a unit)/g,
  /(?<=\b(?:127\.0\.0\.1|localhost|\[::1\]):)\d+/g,
];

/** Names of rate-limit windows, as findings about limits use them. */
export const windowShapes = ["rolling", "fixed", "anchored", "pushed", "weighted", "bucket"] as const;
const shape = `(?:${windowShapes.join("|")})`;
const shapes = new RegExp(`\\b${shape}\\b(?:(?:, | or )${shape}\\b)*`, "g");

/**
 * Whether the same behaviour can cause both texts of an observation. They may differ in times and dates, or in the shapes of rate-limit windows that
 * fit the evidence.
 */
export function isEquivalentText(was: string, is: string): boolean {
  if (withoutVolatile(was) !== withoutVolatile(is)) return false;
  const [before, after] = [shapesIn(was), shapesIn(is)];
  return before.every((open, at) => !open.isDisjointFrom(after[at] ?? open));
}

const withoutVolatile = (text: string): string =>
  [...volatile, shapes].reduce((shorter, pattern) => shorter.replace(pattern, "…"), text);

const shapesIn = (text: string): Set<string>[] =>
  [...text.matchAll(shapes)].map(([list]) => new Set(list.split(/, | or /)));
