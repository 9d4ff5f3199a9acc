import { decide } from "../../rules/limits/admission/judge.ts";
import { formatCounts } from "./breach-clause.ts";
import { describeRequest, describeRequests, type LoadFacts } from "./facts.ts";
import { findTooLowRemaining } from "./remaining.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { median } from "../../base/statistics/quantile.ts";
import { rankSumAbove } from "../../base/statistics/significance.ts";
import { isAdmitted, isRefused } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";

/** LIM-9: one key's use does not touch another's. */
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
  // As one allowance for both keys it is explained, or at least the refusals of the second one are.
  const together = { ...main.history, decisions: [...main.history.decisions, ...second.history.decisions] };
  const shared = decide(together, limits, main.options, false).kind === "explained";
  return breach(
    "another key is refused nothing for this one's use",
    `${own.actual}; ${formatCounts(second)}${shared ? "; one bucket for both keys explains it all" : ""}`,
    describeRequests(own.witness, facts),
  );
}

/** So much slower, by both measures, is more than two processes on one machine do to each other. */
const leastRatio = 3;
const leastMoreMs = 100;
const mostChance = 0.001;
const leastSamples = 16;

/** A neighbour over its limit leaves a key's latency alone: judged against the key's own latency before, and nobody else's. */
export function judgeNeighbourLatency(facts: LoadFacts): JudgeResult {
  const { main, second } = facts;
  if (second === null) return unproven("nothing was sent with a second key", "a second key of the tier");
  const [first, last] = [main.sent[0], main.sent.at(-1)];
  if (first === undefined || last === undefined || !main.sent.some(isRefused))
    return unproven("the main key was not over its limit");
  const tookMs = (those: readonly SampledRequest[]): number[] =>
    those.filter(isAdmitted).map(({ headMs, sentMs }) => headMs - sentMs);
  const alone = tookMs(second.sent.filter(({ headMs }) => headMs <= first.sentMs));
  const beside = tookMs(second.sent.filter(({ sentMs }) => sentMs >= first.headMs && sentMs <= last.sentMs));
  if (Math.min(alone.length, beside.length) < leastSamples)
    return unproven(`too few answers to compare: ${alone.length} alone, ${beside.length} beside the other key`);
  const [before, during] = [median(alone), median(beside)];
  const chance = rankSumAbove(beside, alone);
  const text = `median ${before.toFixed(1)} ms alone, ${during.toFixed(1)} ms beside it (${alone.length} and ${beside.length} answers, p ${chance < 0.001 ? "< 0.001" : chance.toFixed(3)})`;
  const isSlower = during >= leastRatio * before && during - before >= leastMoreMs && chance < mostChance;
  return isSlower ? breach("a neighbour far over its limit leaves a key's latency alone", text) : holds(text);
}
