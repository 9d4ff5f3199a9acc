import { findingKey } from "../../compare/pairing.ts";
import { byLoad, changesText } from "../change-text.ts";
import { isBroken, isJudged } from "../gate/flaky.ts";
import { loadKey, type Night } from "../night.ts";

/** Something that a night reported. */
export interface Happening {
  readonly kind: "regression" | "slower" | "also slower" | "faster";
  /** Night that reported it, and the first one that had it. ISO 8601. */
  readonly reported: string;
  readonly since: string;
  readonly says: string;
  /** Night on which it was over; `null` where it still stands, or where that cannot be told. */
  readonly over: string | null;
}

/** What the nights reported, newest first. */
export function happeningsOf(nights: readonly Night[]): Happening[] {
  return nights
    .flatMap(({ started, reported }, at): Happening[] => {
      const after = nights.slice(at + 1);
      const changes = byLoad(reported.changes).map((group): Happening => {
        const [{ direction, isKnown, ...name }] = group;
        const isOver = ({ reported: later }: Night): boolean =>
          later.changes.some((each) => each.direction === "faster" && loadKey(each) === loadKey(name));
        return {
          kind: direction === "faster" ? "faster" : isKnown ? "also slower" : "slower",
          reported: started,
          since: group.map(({ since }) => since).toSorted()[0] ?? started,
          says: changesText(group),
          over: direction === "faster" ? null : (after.find(isOver)?.started ?? null),
        };
      });
      const regressions = reported.regressions.map(({ says, check, instance }): Happening => ({
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
