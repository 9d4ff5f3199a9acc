import { findingKey } from "../../compare/pairing.ts";
import { isBroken, isJudged } from "../gate/flaky.ts";
import type { Night, NightFinding } from "../night.ts";

/** A finding that is broken by now. */
export interface StandingBreach {
  readonly finding: NightFinding;
  /** Start of the first night of those in a row that have it, ISO 8601. */
  readonly since: string;
  /** So many nights in a row that judged it. */
  readonly nights: number;
  /** Whether it was broken on the first night that is kept, so that it may be older. */
  readonly isOlder: boolean;
}

/** What is broken on the last night, and its first bad night. Nights that did not exercise it say nothing of it. */
export function standingBreaches(nights: readonly Night[]): StandingBreach[] {
  const last = nights.at(-1);
  if (last === undefined) return [];
  const open = new Map(
    last.findings.filter(({ outcome }) => isBroken(outcome)).map((each) => [findingKey(each), each]),
  );
  const found = new Map<string, { since: string; nights: number; isOlder: boolean }>();
  const running = new Set(open.keys());
  for (const night of nights.toReversed()) {
    for (const finding of night.findings) {
      const key = findingKey(finding);
      if (!running.has(key) || !isJudged(finding.outcome)) continue;
      const known = found.get(key) ?? { since: night.started, nights: 0, isOlder: true };
      if (isBroken(finding.outcome)) found.set(key, { ...known, since: night.started, nights: known.nights + 1 });
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
