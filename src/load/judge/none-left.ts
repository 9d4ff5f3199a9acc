import {
  judgeExhausted,
  describeAdmittedWhenExhausted,
  type Elapsed,
  type ExhaustedWindowVerdict,
  exhaustedWindowRule,
} from "../../rules/limits/exhausted-window.ts";
import { breachedClause, judgeEachKey } from "./breach-clause.ts";
import { describeRequest, type KeyFacts, type LoadFacts } from "./facts.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import type { SampledRequest } from "./sampled-requests.ts";

/** HDR-19: nothing is admitted of a window of which the target has said that nothing is left. */
export function judgeAdmittedAfterZero(facts: LoadFacts): JudgeResult {
  return judgeEachKey(facts, (use) => {
    const broken = breachedClause(use, facts);
    if (broken?.judged.breach === "too many admitted") return unproven(`a limit is broken (${broken.clause})`);
    const judged = usedUp(use, facts);
    if (judged.kind === "kept") return holds(`${judged.count} times`);
    if (judged.kind === "not tested")
      return unproven("no admitted request was told `Remaining: 0` and then followed by one more");
    const { exhausted, admitted } = judged.beyond;
    return breach(
      exhaustedWindowRule,
      describeAdmittedWhenExhausted(judged.beyond),
      [exhausted, ...admitted.slice(0, 5)].map((each) => describeRequest(each, facts)),
    );
  });
}

function usedUp({ sent, history }: KeyFacts, { limits, time }: LoadFacts): ExhaustedWindowVerdict<SampledRequest> {
  const elapsed = (from: SampledRequest, to: SampledRequest): Elapsed => ({
    min: (time.at(to.sentMs).fromMs - time.at(from.headMs).toMs) / 1000,
    max: (time.at(to.headMs).toMs - time.at(from.sentMs).fromMs) / 1000,
  });
  return judgeExhausted({ samples: sent, limits, isFresh: history.priorUse === "nothing", elapsed });
}
