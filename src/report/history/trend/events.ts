import { countsIn } from "../../../spec/requirements.ts";
import { findingKey, type FindingId } from "../../model/finding-text.ts";
import { groupByLoad, formatShifts } from "../summary.ts";
import { isBroken, isExercised } from "../../model/report.ts";
import { type Night, trialIdText } from "../night.ts";

/** An event in the history: a regression or a latency shift that a night reported, or a change of the requirement set. */
export interface TrendEvent {
  readonly kind: "regression" | "slower" | "also slower" | "faster" | "requirements";
  /** Start of the night that reported the event, ISO 8601. */
  readonly reported: string;
  /** Start of the first night to which the event applies, ISO 8601. */
  readonly since: string;
  readonly says: string;
  /** Start of the night that ended the event; `null` if no end is known. */
  readonly over: string | null;
}

/** Returns all events of a history, newest first. */
export function trendEvents(nights: readonly Night[]): TrendEvent[] {
  return nights
    .flatMap(({ started, suite, reported }, at): TrendEvent[] => {
      const after = nights.slice(at + 1);
      const changes = groupByLoad(reported.changes).map((group): TrendEvent => {
        const [{ direction, isKnown, ...name }] = group;
        const isOver = ({ reported: later }: Night): boolean =>
          later.changes.some((each) => each.direction === "faster" && trialIdText(each) === trialIdText(name));
        return {
          kind: direction === "faster" ? "faster" : isKnown ? "also slower" : "slower",
          reported: started,
          since: group.map(({ since }) => since).toSorted()[0] ?? started,
          says: formatShifts(group),
          over: direction === "faster" ? null : (after.find(isOver)?.started ?? null),
        };
      });
      const regressions = reported.regressions.map(({ says, check, instance }): TrendEvent => ({
        kind: "regression",
        reported: started,
        since: started,
        says,
        over: check === null ? null : nightOfFix(after, { check, instance }),
      }));
      return [...requirementsChange(started, nights[at - 1]?.suite, suite), ...regressions, ...changes];
    })
    .toReversed();
}

/** Returns an event if the requirement set is another than the night before. Checks then differ although the target has not changed. */
function requirementsChange(
  started: string,
  before: Night["suite"] | undefined,
  { requirements }: Night["suite"],
): TrendEvent[] {
  if (before === undefined || before.requirements === requirements) return [];
  const later = countsIn(before.requirements, requirements) ? requirements : before.requirements;
  const says = `judged by requirement set ${requirements}, before by ${before.requirements}: a difference in a check of ${later} is a change of the requirements, not of the target`;
  return [{ kind: "requirements", reported: started, since: started, says, over: null }];
}

function nightOfFix(nights: readonly Night[], fixed: FindingId): string | null {
  const key = findingKey(fixed);
  const holds = ({ findings }: Night): boolean =>
    findings.some((each) => findingKey(each) === key && isExercised(each) && !isBroken(each));
  return nights.find(holds)?.started ?? null;
}
