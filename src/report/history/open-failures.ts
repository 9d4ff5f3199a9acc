import { findingKey } from "../model/finding-text.ts";
import { isBroken, isExercised } from "../model/report.ts";
import type { Night, NightFinding } from "./night.ts";

/** A finding that was broken on the last night. */
export interface OpenFailure {
  readonly finding: NightFinding;
  /** Start of the first night in the current series of failures, ISO 8601. */
  readonly since: string;
  /** Number of nights in the series that judged the check. */
  readonly nights: number;
  /** Whether the series begins with the first night of the history, so that the failure may be older. */
  readonly isOlder: boolean;
}

/**
 * Returns the findings that were broken on the last night, each with the first night of its failure. Nights that did not judge a check do
 * not count.
 */
export function openFailures(nights: readonly Night[]): OpenFailure[] {
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
