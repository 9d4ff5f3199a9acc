import { findingKey } from "../../compare/find-changes.ts";
import { byLoad, changesText } from "../change-text.ts";
import { isBroken, isJudged } from "../gate/flaky.ts";
import { trialKey, type Night, type NightFinding } from "../night.ts";

/** Something that a night reported. */
export interface TrendEvent {
  readonly kind: "regression" | "slower" | "also slower" | "faster";
  /** Night that reported it, and the first one that had it. ISO 8601. */
  readonly reported: string;
  readonly since: string;
  readonly says: string;
  /** Night on which it was over; `null` where it still stands, or where that cannot be told. */
  readonly over: string | null;
}

/** What the nights reported, newest first. */
export function trendEvents(nights: readonly Night[]): TrendEvent[] {
  return nights
    .flatMap(({ started, reported }, at): TrendEvent[] => {
      const after = nights.slice(at + 1);
      const changes = byLoad(reported.changes).map((group): TrendEvent => {
        const [{ direction, isKnown, ...name }] = group;
        const isOver = ({ reported: later }: Night): boolean =>
          later.changes.some((each) => each.direction === "faster" && trialKey(each) === trialKey(name));
        return {
          kind: direction === "faster" ? "faster" : isKnown ? "also slower" : "slower",
          reported: started,
          since: group.map(({ since }) => since).toSorted()[0] ?? started,
          says: changesText(group),
          over: direction === "faster" ? null : (after.find(isOver)?.started ?? null),
        };
      });
      const regressions = reported.regressions.map(({ says, check, instance }): TrendEvent => ({
        kind: "regression",
        reported: started,
        since: started,
        says,
        over: check === null ? null : fixedOn(after, check, instance),
      }));
      return [...regressions, ...changes];
    })
    .toReversed();
}

function fixedOn(nights: readonly Night[], check: string, instance: string | null): string | null {
  const key = findingKey(instance === null ? { check } : { check, instance });
  const holds = ({ findings }: Night): boolean =>
    findings.some((each) => findingKey(each) === key && isJudged(each.outcome) && !isBroken(each.outcome));
  return nights.find(holds)?.started ?? null;
}

/** A finding that is broken by now. */
export interface OpenFailure {
  readonly finding: NightFinding;
  /** Start of the first night of those in a row that have it, ISO 8601. */
  readonly since: string;
  /** So many nights in a row that judged it. */
  readonly nights: number;
  /** Whether it was broken on the first night that is kept, so that it may be older. */
  readonly isOlder: boolean;
}

/** What is broken on the last night, and its first bad night. Nights that did not exercise it say nothing of it. */
export function openFailures(nights: readonly Night[]): OpenFailure[] {
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
