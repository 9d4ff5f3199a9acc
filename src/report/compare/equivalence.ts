/**
 * Patterns for dates, durations and loopback ports, which differ between two runs against the same server. Status codes and counts are
 * not among them, because a different one is a real change.
 */
const volatilePatterns: readonly RegExp[] = [
  /\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g,
  /\d+(?:[.,]\d+)*(?= ?(?:µs|ms|s|seconds?|milliseconds?|min|minutes?|h|hours?)\b)/g,
  /(?<=\b(?:127\.0\.0\.1|localhost|\[::1\]):)\d+/g,
];

/**
 * Matches the number in `1.2 without a unit`. Findings write so about `average_response_time` of the webhook metrics, whose unit the
 * document does not show (WHK-10).
 */
const unitlessDuration = /\d+(?:\.\d+)?(?:e[+-]?\d+)?(?= without a unit)/g;
/** Two durations without a unit that differ by more than this factor have different units: one is in seconds, the other in milliseconds. */
const maxUnitlessFactor = 100;

/** Kinds of rate-limit window, as findings about limits name them. */
export const windowKinds = ["rolling", "fixed", "anchored", "pushed", "weighted", "bucket"] as const;
const windowKindPattern = `(?:${windowKinds.join("|")})`;
const windowKindListPattern = new RegExp(`\\b${windowKindPattern}\\b(?:(?:, | or )${windowKindPattern}\\b)*`, "g");

/**
 * Whether two observations may come from the same behaviour. Times and dates may differ, but not the unit of a duration. Two lists of
 * possible kinds of rate-limit window may differ, if they have a kind in common.
 */
export function isEquivalentText(was: string, is: string): boolean {
  if (replaceVolatile(was) !== replaceVolatile(is)) return false;
  if (!haveSameUnits(was, is)) return false;
  const [before, after] = [windowKindListsIn(was), windowKindListsIn(is)];
  return before.every((open, at) => !open.isDisjointFrom(after[at] ?? open));
}

const replaceVolatile = (text: string): string =>
  [...volatilePatterns, unitlessDuration, windowKindListPattern].reduce(
    (shorter, pattern) => shorter.replace(pattern, "…"),
    text,
  );

/**
 * Whether the durations without a unit may have the same unit in both texts: none differs by more than the factor `maxUnitlessFactor`. A
 * zero matches any duration, because it may be a rounded value.
 */
function haveSameUnits(was: string, is: string): boolean {
  const numbersIn = (text: string): number[] => (text.match(unitlessDuration) ?? []).map(Number);
  const after = numbersIn(is);
  return numbersIn(was).every((number, at) => {
    const other = after[at] ?? number;
    return number === 0 || other === 0 || Math.max(number / other, other / number) <= maxUnitlessFactor;
  });
}

const windowKindListsIn = (text: string): Set<string>[] =>
  [...text.matchAll(windowKindListPattern)].map(([list]) => new Set(list.split(/, | or /)));
