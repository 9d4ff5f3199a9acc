import type { LimitName } from "../../rules/limits/admission/models.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import {
  describeAdmittedWhenExhausted,
  judgeExhausted,
  type Elapsed,
  exhaustedWindowRule,
} from "../../rules/limits/exhausted-window.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { elapsedSeconds } from "../shared/compare-samples.ts";
import type { KeyHistory } from "./key-history.ts";

/**
 * Judges that no request is admitted in a window after `Remaining: 0` was reported (HDR-19).
 * @param name the limit that was exhausted
 * @param isOver whether more requests were admitted than any limiter with the published numbers admits, which is another
 * breach
 */
export function judgeExhaustedWindow(use: KeyHistory, name: LimitName, isOver: boolean): Finding<never> {
  if (isOver) return unproven("more are admitted than published (LIM-1, LIM-3)");
  const { samples: answers, limits, isFresh, hasClock } = use;
  const elapsed = (from: Sample, to: Sample): Elapsed => elapsedSeconds(from, to, hasClock);
  const judged = judgeExhausted({ answers, limits, isFresh, elapsed });
  if (judged.kind === "kept") return holds();
  if (judged.kind === "not tested") return notSeen(use, name);
  const { exhausted, admitted } = judged.beyond;
  const ids = [exhausted, ...admitted.slice(0, 5)].map(({ id }) => id).join(", ");
  return breach(exhaustedWindowRule, `${describeAdmittedWhenExhausted(judged.beyond)} (${ids})`);
}

function notSeen({ samples, limits: { perMinute, perHour } }: KeyHistory, name: LimitName): Finding<never> {
  const [own, other] = name === "hour" ? [perHour, perMinute] : [perMinute, perHour];
  const speaksOf = (limit: number): boolean => samples.some((each) => isAdmitted(each) && each.limit === limit);
  if (speaksOf(other) && !speaksOf(own)) return inapplicable(`the headers do not speak of the ${name}`);
  return unproven("no admitted request was told `Remaining: 0` and then followed by one more");
}
