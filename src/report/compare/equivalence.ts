/**
 * Matches dates, durations and loopback ports, which differ between two runs on the same server. Status codes and counts do not, so they are not
 * matched.
 */
const volatile: readonly RegExp[] = [
  /\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g,
  /\d+(?:[.,]\d+)*(?= ?(?:µs|ms|s|seconds?|milliseconds?|min|minutes?|h|hours?)\b)/g,
  /(?<=\b(?:127\.0\.0\.1|localhost|\[::1\]):)\d+/g,
];

/** A duration whose unit the document leaves open (WHK-10). */
const unitless = /\d+(?:\.\d+)?(?:e[+-]?\d+)?(?= without a unit)/g;
/** Two durations without a unit differ by more than this factor if one is in seconds and the other in milliseconds. */
const maxUnitlessFactor = 100;

/** Names of rate-limit windows, as findings about limits use them. */
export const windowShapes = ["rolling", "fixed", "anchored", "pushed", "weighted", "bucket"] as const;
const shape = `(?:${windowShapes.join("|")})`;
const shapes = new RegExp(`\\b${shape}\\b(?:(?:, | or )${shape}\\b)*`, "g");

/**
 * Whether the same behaviour can cause both texts of an observation. They may differ in times and dates, but not in the unit of a duration, or in the shapes of rate-limit windows that
 * fit the evidence.
 */
export function isEquivalentText(was: string, is: string): boolean {
  if (withoutVolatile(was) !== withoutVolatile(is)) return false;
  if (!haveSameUnits(was, is)) return false;
  const [before, after] = [shapesIn(was), shapesIn(is)];
  return before.every((open, at) => !open.isDisjointFrom(after[at] ?? open));
}

const withoutVolatile = (text: string): string =>
  [...volatile, unitless, shapes].reduce((shorter, pattern) => shorter.replace(pattern, "…"), text);

/** Whether durations without a unit are so close that their units may be the same. A zero may be rounded. */
function haveSameUnits(was: string, is: string): boolean {
  const numbersIn = (text: string): number[] => (text.match(unitless) ?? []).map(Number);
  const after = numbersIn(is);
  return numbersIn(was).every((number, at) => {
    const other = after[at] ?? number;
    return number === 0 || other === 0 || Math.max(number / other, other / number) <= maxUnitlessFactor;
  });
}

const shapesIn = (text: string): Set<string>[] =>
  [...text.matchAll(shapes)].map(([list]) => new Set(list.split(/, | or /)));
