import { verdictOfHistory, judgeAdmission } from "../../rules/limits/admission/judge.ts";
import { formatCounts } from "./breach-clause.ts";
import { describeRequest, describeRequests, type LoadFacts } from "./facts.ts";
import { countRequestsBetween, findTooLowRemaining } from "./remaining.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { median, rankSumPValue } from "../../base/statistics/samples.ts";
import { isAdmitted, isAgentCall, isRefused } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";
import { judgeResponses } from "./responses.ts";
import { groupByWindow } from "../../rules/limits/reset-headers.ts";

/** Judges LIM-9: requests of one key do not count against another key's limits. */
export function judgeKeyIsolation(facts: LoadFacts): JudgeResult {
  const { main, second, limits } = facts;
  if (second === null) return unproven("nothing was sent with a second key", "a second key of the tier");
  const below = [second, main].flatMap((use) => findTooLowRemaining(use, facts) ?? []).at(0);
  if (below !== undefined)
    return breach("a key's `Remaining` falls with its own requests only", below.what, [
      describeRequest(below.sample, facts),
    ]);
  const own = second.judgement();
  if (own.kind === "explained") {
    const isOver = main.history.decisions.some(({ outcome }) => outcome === "refused");
    if (main.judgement().kind === "breach") return unproven("the main key's history fits no admissible limiter");
    return isOver
      ? holds(`${formatCounts(second)}, while ${formatCounts(main)}`)
      : unproven("the main key was not over its limit");
  }
  if (own.breach === "too many admitted") return unproven("the second key's own limit is broken already");
  const together = { ...main.history, decisions: [...main.history.decisions, ...second.history.decisions] };
  const shared = verdictOfHistory(together, limits, main.options, false).kind === "explained";
  return breach(
    "requests of one key cause no refusal of another",
    `${own.actual}; ${formatCounts(second)}${shared ? "; one bucket for both keys explains it all" : ""}`,
    describeRequests(own.witness, facts),
  );
}

/**
 * A key counts as slowed down if its median latency under the other key's load is this many times its median before.
 * The increase must also be at least `minIncreaseMs`, and unlikely to be chance.
 */
const minRatio = 3;
const minIncreaseMs = 100;
/** Maximum probability that chance alone would cause the increase in latency. */
const maxPValue = 0.001;
const minSamples = 16;

/** Judges whether the latency of one key stays the same while another key is over its limit. */
export function judgeNeighbourLatency(facts: LoadFacts): JudgeResult {
  const { main, second } = facts;
  if (second === null) return unproven("nothing was sent with a second key", "a second key of the tier");
  const [first, last] = [main.samples[0], main.samples.at(-1)];
  if (first === undefined || last === undefined || !main.samples.some(isRefused))
    return unproven("the main key was not over its limit");
  const latenciesMs = (those: readonly SampledRequest[]): number[] =>
    those.filter(isAdmitted).map(({ headMs, sentMs }) => headMs - sentMs);
  const alone = latenciesMs(second.samples.filter(({ headMs }) => headMs <= first.sentMs));
  const together = latenciesMs(second.samples.filter(({ sentMs }) => sentMs >= first.headMs && sentMs <= last.sentMs));
  if (Math.min(alone.length, together.length) < minSamples)
    return unproven(`too few responses to compare: ${alone.length} alone, ${together.length} with the other key`);
  const [before, during] = [median(alone), median(together)];
  const chance = rankSumPValue(together, alone);
  const text = `median ${before.toFixed(1)} ms alone, ${during.toFixed(1)} ms with the other key (${alone.length} and ${together.length} responses, p ${chance < 0.001 ? "< 0.001" : chance.toFixed(3)})`;
  const isSlower = during >= minRatio * before && during - before >= minIncreaseMs && chance < maxPValue;
  return isSlower ? breach("a neighbour far over its limit leaves a key's latency alone", text) : holds(text);
}

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
  const during = samples.filter((each) => isHealth(each) && each.sentMs >= first.headMs && each.headMs <= last.headMs);
  if (during.length === 0) return unproven("no health request was sent between two refusals");
  const others = during.filter((each) => !isAdmitted(each));
  return others.length === 0
    ? { ...result, detail: `${during.length} requests between two refusals` }
    : unproven(`${others.length} of ${during.length} requests got ${others[0]?.status ?? "no response"}`);
}

/** Judges HLT-16: health requests do not count against the key's limits. */
export function judgeHealthIsFree(facts: LoadFacts): JudgeResult {
  const { main, limits } = facts;
  const health = new Set(main.samples.filter(isHealth).map(({ id }) => id));
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

/** Returns a breach if `Remaining` fell so far that health requests must have counted, else `null`. */
function unexplainedFallOf(facts: LoadFacts): JudgeResult | null {
  const { main } = facts;
  const between = countRequestsBetween(main.samples);
  for (const window of groupByWindow(main.samples)) {
    // Skips 429 responses. With equal limit and reset, the hour's and the minute's window form one group here: the
    // `Remaining` of a 429 may come from the other window, which would look like a fall.
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
