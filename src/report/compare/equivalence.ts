/** Patterns for dates, durations and loopback ports, which differ between two runs against the same server. */
const volatilePatterns: readonly RegExp[] = [
  /\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g,
  /\d+(?:[.,]\d+)*(?= ?(?:µs|ms|s|seconds?|milliseconds?|min|minutes?|h|hours?)\b)/g,
  /(?<=\b(?:127\.0\.0\.1|localhost|\[::1\]):)\d+/g,
];

/** Matches a duration that the target sent without a unit: the number in `1.2 without a unit`. */
const unitlessDuration = /\d+(?:\.\d+)?(?:e[+-]?\d+)?(?= without a unit)/g;
/**
 * Durations without a unit may be seconds or milliseconds. If two durations differ by more than this factor, their
 * units differ.
 */
const maxUnitlessFactor = 100;

export const windowKinds = ["rolling", "fixed", "anchored", "pushed", "weighted", "bucket"] as const;
const windowKindPattern = `(?:${windowKinds.join("|")})`;
const windowKindListPattern = new RegExp(`\\b${windowKindPattern}\\b(?:(?:, | or )${windowKindPattern}\\b)*`, "g");

/** Whether two texts of findings differ only in parts that change from run to run, such as times and ports. */
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
