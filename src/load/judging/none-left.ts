import { judgeUsedUp, beyondText, type Passed, type UsedUp, usedUpRule } from "../../limits/used-up.ts";
import { brokenBy, ofEachKey } from "./blame.ts";
import { lineOf, type LoadedKey, type LoadFacts } from "./facts.ts";
import { breach, holds, type Says, unproven } from "./finding.ts";
import type { Sent } from "./sent.ts";

/** HDR-19: nothing is admitted of a window of which the target has said that nothing is left. */
export function judgeNoneLeft(facts: LoadFacts): Says {
  return ofEachKey(facts, (use) => {
    const broken = brokenBy(use, facts);
    if (broken?.judged.breach === "too many admitted") return unproven(`a limit is broken (${broken.clause})`);
    const judged = usedUp(use, facts);
    if (judged.kind === "kept") return holds(`${judged.tellings} times`);
    if (judged.kind === "not seen")
      return unproven("no admitted request was told `Remaining: 0` and then followed by one more");
    const { told, admitted } = judged.beyond;
    return breach(
      usedUpRule,
      beyondText(judged.beyond),
      [told, ...admitted.slice(0, 5)].map((each) => lineOf(each, facts)),
    );
  });
}

function usedUp({ sent, history }: LoadedKey, { limits, time }: LoadFacts): UsedUp<Sent> {
  const passed = (from: Sent, to: Sent): Passed => ({
    least: (time.at(to.sentMs).fromMs - time.at(from.headMs).toMs) / 1000,
    most: (time.at(to.headMs).toMs - time.at(from.sentMs).fromMs) / 1000,
  });
  return judgeUsedUp({ answers: sent, limits, isFresh: history.before === "nothing", passed });
}
