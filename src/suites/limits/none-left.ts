import type { LimitName } from "../../limits/admission/families.ts";
import { isAdmitted, type Sample } from "../../limits/sample.ts";
import { beyondText, judgeUsedUp, type Passed, usedUpRule } from "../../limits/used-up.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/finding.ts";
import { passedSeconds } from "../headers/shown-window.ts";
import type { KeyUse } from "./history.ts";

/**
 * Judges that nothing is admitted of a window of which the target has said that nothing is left (HDR-19).
 * @param name the limit that was used up
 * @param isOver more were admitted than any limiter of the published numbers admits: then that is what is broken
 */
export function judgeNoneLeft(use: KeyUse, name: LimitName, isOver: boolean): Finding<never> {
  if (isOver) return unproven("more are admitted than published (LIM-1, LIM-3)");
  const { samples: answers, limits, isFresh, hasClock } = use;
  const passed = (from: Sample, to: Sample): Passed => passedSeconds(from, to, hasClock);
  const judged = judgeUsedUp({ answers, limits, isFresh, passed });
  if (judged.kind === "kept") return holds();
  if (judged.kind === "not seen") return notSeen(use, name);
  const { told, admitted } = judged.beyond;
  const ids = [told, ...admitted.slice(0, 5)].map(({ id }) => id).join(", ");
  return breach(usedUpRule, `${beyondText(judged.beyond)} (${ids})`);
}

function notSeen({ samples, limits: { perMinute, perHour } }: KeyUse, name: LimitName): Finding<never> {
  const [own, other] = name === "hour" ? [perHour, perMinute] : [perMinute, perHour];
  const speaksOf = (limit: number): boolean => samples.some((each) => isAdmitted(each) && each.limit === limit);
  if (speaksOf(other) && !speaksOf(own)) return inapplicable(`the headers do not speak of the ${name}`);
  return unproven("no admitted request was told `Remaining: 0` and then followed by one more");
}
