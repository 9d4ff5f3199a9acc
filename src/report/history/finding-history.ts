import type { Night, NightFinding } from "./night.ts";
import { findingKey } from "../model/finding-text.ts";
import { isBroken, isExercised } from "../model/finding.ts";

export interface OpenFailure {
  readonly finding: NightFinding;
  /** Start time (ISO 8601) of the first night in the current, unbroken series of failures. */
  readonly since: string;
  readonly nights: number;
  /** Whether the failure may be older than the history: the check passed on no night of the history. */
  readonly isOlder: boolean;
}

export function findOpenFailures(nights: readonly Night[]): OpenFailure[] {
  const last = nights.at(-1);
  if (last === undefined) return [];
  const open = new Map(last.findings.filter(isBroken).map((each) => [findingKey(each), each]));
  const found = new Map<string, { since: string; nights: number; isOlder: boolean }>();
  const running = new Set(open.keys());
  for (const night of nights.toReversed()) {
    for (const finding of night.findings) {
      const key = findingKey(finding);
      if (!running.has(key) || !isExercised(finding)) continue;
      const known = found.get(key) ?? { since: night.started, nights: 0, isOlder: true };
      if (isBroken(finding)) found.set(key, { ...known, since: night.started, nights: known.nights + 1 });
      else {
        found.set(key, { ...known, isOlder: false });
        running.delete(key);
      }
    }
    if (running.size === 0) break;
  }
  return [...open].flatMap(([key, finding]) => {
    const known = found.get(key);
    return known === undefined ? [] : [{ finding, ...known }];
  });
}

export interface FlakyCheck {
  readonly check: string;
  readonly instance: string | null;
  readonly flips: number;
  readonly nights: number;
  readonly broken: number;
}

export const flakinessWindowNights = 14;

/**
 * A check is flaky if it starts or stops failing at least this often in `flakinessWindowNights` nights. A failure and
 * its fix count as two changes.
 */
const minFlips = 3;

/** Returns the flaky checks, with the most changes first. Ignores nights that did not exercise a check. */
export function flakyChecksOf(nights: readonly Night[]): FlakyCheck[] {
  const sides = new Map<string, { check: string; instance: string | null; broken: boolean[] }>();
  for (const { findings } of nights.slice(-flakinessWindowNights))
    for (const finding of findings) {
      if (!isExercised(finding)) continue;
      const key = findingKey(finding);
      const known = sides.get(key) ?? { check: finding.check, instance: finding.instance ?? null, broken: [] };
      known.broken.push(isBroken(finding));
      sides.set(key, known);
    }
  return [...sides.values()]
    .map(({ check, instance, broken }) => ({
      check,
      instance,
      flips: broken.filter((side, at) => at > 0 && side !== broken[at - 1]).length,
      nights: broken.length,
      broken: broken.filter(Boolean).length,
    }))
    .filter(({ flips }) => flips >= minFlips)
    .toSorted((one, other) => other.flips - one.flips);
}
