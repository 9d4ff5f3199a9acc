import { judgeAdmission } from "../../rules/limits/admission/judge.ts";
import { formatCounts } from "./breach-clause.ts";
import { describeRequest, describeRequests, type LoadFacts } from "./facts.ts";
import { judgeResponses } from "./responses.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { groupByWindow } from "../../rules/limits/reset-headers.ts";
import { countRequestsBetween } from "./remaining.ts";
import { isAdmitted, isRefused, isAgentCall } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";

/** Judges HLT-15: health requests succeed while invokes are refused. */
export function judgeHealthWhileExhausted(facts: LoadFacts): JudgeResult {
  const { samples } = facts.main;
  const result = judgeResponses(
    samples.filter((each) => isHealth(each) && each.status !== null),
    (each) => (isRefused(each) ? { expected: "no rate limit applies to health", actual: "429" } : null),
    facts,
    "no health request was sent",
  );
  if (result.kind !== "holds") return result;
  const refused = samples.filter((each) => isAgentCall(each) && isRefused(each));
  const [first, last] = [refused[0], refused.at(-1)];
  if (first === undefined || last === undefined) return unproven("invoke was not refused");
  const during = samples.filter(
    (each) => each.kind === "health" && each.sentMs >= first.headMs && each.headMs <= last.headMs,
  );
  if (during.length === 0) return unproven("no health request was sent between two refusals");
  const others = during.filter((each) => !isAdmitted(each));
  return others.length === 0
    ? { ...result, detail: `${during.length} requests between two refusals` }
    : unproven(`${others.length} of ${during.length} requests got ${others[0]?.status ?? "no response"}`);
}

/** Judges HLT-16: health requests do not count against the key's limits. */
export function judgeHealthIsFree(facts: LoadFacts): JudgeResult {
  const { main, limits } = facts;
  const health = new Set(main.samples.filter(({ kind }) => kind === "health").map(({ id }) => id));
  const without = { ...main.history, decisions: main.history.decisions.filter(({ id }) => !health.has(id)) };
  if (health.size === 0) return unproven("no health request was sent");
  const judged = judgeAdmission(without, limits, main.options);
  const unexplainedFall = unexplainedFallOf(facts);
  if (unexplainedFall !== null) return unexplainedFall;
  if (judged.kind === "explained")
    return main.samples.some((each) => isAgentCall(each) && isRefused(each))
      ? holds(`${health.size} requests; without them, ${formatCounts({ ...main, history: without })}`)
      : unproven("invoke was not refused");
  if (main.judgement().kind === "breach")
    return unproven("the refusals fit no admissible limiter, whether or not health counts");
  return breach(
    "health requests do not use up the allowance",
    `without its ${health.size} requests no admissible limiter explains the rest: ${judged.actual}`,
    describeRequests(judged.witness, facts),
  );
}

/** Returns a breach if only health requests can explain how far `Remaining` fell. */
function unexplainedFallOf(facts: LoadFacts): JudgeResult | null {
  const { main } = facts;
  const between = countRequestsBetween(main.samples);
  for (const window of groupByWindow(main.samples)) {
    // Skips 429 responses. If the hour's and the minute's limits are equal, a 429 can report the `Remaining` of either
    // window.
    const [from, ...later] = window.filter((each) => !isRefused(each));
    if (from === undefined) continue;
    const to = later.find((each) => (from.remaining ?? 0) - (each.remaining ?? Infinity) > between.max(from, each));
    if (
      to === undefined ||
      !main.samples.some((each) => isHealth(each) && each.sentMs <= to.headMs && each.headMs >= from.sentMs)
    )
      continue;
    const fell = (from.remaining ?? 0) - (to.remaining ?? 0);
    return breach(
      "health requests do not use up the allowance",
      `\`Remaining\` fell by ${fell}, with at most ${between.max(from, to)} other requests in between`,
      [describeRequest(from, facts), describeRequest(to, facts)],
    );
  }
  return null;
}

const isHealth = ({ kind }: SampledRequest): boolean => kind === "health";
