import { judgeAdmission } from "../../rules/limits/admission/judge.ts";
import { formatCounts } from "./breach-clause.ts";
import { describeRequest, describeRequests, type LoadFacts } from "./facts.ts";
import { judgeResponses } from "./responses.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { groupByWindow } from "../../rules/limits/time-left.ts";
import { countRequestsBetween } from "./requests-between.ts";
import { isAdmitted, isRefused, isAgentCall } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";

/** HLT-15: health answers 200 while invoke answers 429. */
export function judgeHealthWhileExhausted(facts: LoadFacts): JudgeResult {
  const { sent } = facts.main;
  const said = judgeResponses(
    sent.filter((each) => isHealth(each) && each.status !== null),
    (each) => (isRefused(each) ? { expected: "no rate limit applies to health", actual: "429" } : null),
    facts,
    "health was not called",
  );
  if (said.kind !== "holds") return said;
  const refused = sent.filter((each) => isAgentCall(each) && isRefused(each));
  const [first, last] = [refused[0], refused.at(-1)];
  if (first === undefined || last === undefined) return unproven("invoke was not refused");
  const during = sent.filter(
    (each) => each.kind === "health" && each.sentMs >= first.headMs && each.headMs <= last.headMs,
  );
  if (during.length === 0) return unproven("health was not called between two refusals");
  const others = during.filter((each) => !isAdmitted(each));
  return others.length === 0
    ? { ...said, detail: `${during.length} calls between two refusals` }
    : unproven(`${others.length} of ${during.length} calls came to ${others[0]?.status ?? "no answer"}`);
}

/** HLT-16: health calls use up nothing. */
export function judgeHealthIsFree(facts: LoadFacts): JudgeResult {
  const { main, limits } = facts;
  const health = new Set(main.sent.filter(({ kind }) => kind === "health").map(({ id }) => id));
  const without = { ...main.history, decisions: main.history.decisions.filter(({ id }) => !health.has(id)) };
  if (health.size === 0) return unproven("health was not called");
  const judged = judgeAdmission(without, limits, main.options);
  const fall = fallAcross(facts);
  if (fall !== null) return fall;
  if (judged.kind === "explained")
    return main.sent.some((each) => isAgentCall(each) && isRefused(each))
      ? holds(`${health.size} calls; without them, ${formatCounts({ ...main, history: without })}`)
      : unproven("invoke was not refused");
  if (main.judgement().kind === "breach")
    return unproven("the refusals fit no admissible limiter, whether or not health counts");
  return breach(
    "health calls do not use up the allowance",
    `without its ${health.size} calls no admissible limiter explains the rest: ${judged.actual}`,
    describeRequests(judged.witness, facts),
  );
}

/** `Remaining` that falls further than requests other than health explain. */
function fallAcross(facts: LoadFacts): JudgeResult | null {
  const { main } = facts;
  const between = countRequestsBetween(main.sent);
  for (const window of groupByWindow(main.sent)) {
    // A refusal speaks of the limit that refused, which may call itself the same.
    const [from, ...later] = window.filter((each) => !isRefused(each));
    if (from === undefined) continue;
    const to = later.find((each) => (from.remaining ?? 0) - (each.remaining ?? Infinity) > between.max(from, each));
    if (
      to === undefined ||
      !main.sent.some((each) => isHealth(each) && each.sentMs <= to.headMs && each.headMs >= from.sentMs)
    )
      continue;
    const fell = (from.remaining ?? 0) - (to.remaining ?? 0);
    return breach(
      "health calls do not use up the allowance",
      `\`Remaining\` fell by ${fell}, with at most ${between.max(from, to)} other requests in between`,
      [describeRequest(from, facts), describeRequest(to, facts)],
    );
  }
  return null;
}

const isHealth = ({ kind }: SampledRequest): boolean => kind === "health";
