import { decideVerdict } from "../../rules/limits/admission/judge.ts";
import { formatCounts } from "./breach-clause.ts";
import { describeRequest, describeRequests, type LoadFacts } from "./facts.ts";
import { findTooLowRemaining } from "./remaining.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { median } from "../../base/statistics/quantile.ts";
import { rankSumAbove } from "../../base/statistics/significance.ts";
import { isAdmitted, isRefused } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";

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
  const shared = decideVerdict(together, limits, main.options, false).kind === "explained";
  return breach(
    "requests of one key cause no refusal of another",
    `${own.actual}; ${formatCounts(second)}${shared ? "; one bucket for both keys explains it all" : ""}`,
    describeRequests(own.witness, facts),
  );
}

/** Minimum factor by which a slowed-down key's median latency rises. The increase must also reach `minIncreaseMs`. */
const minRatio = 3;
const minIncreaseMs = 100;
const maxChance = 0.001;
const minSamples = 16;

/** Judges that the latency of one key does not rise while another key is over its limit. */
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
  const chance = rankSumAbove(together, alone);
  const text = `median ${before.toFixed(1)} ms alone, ${during.toFixed(1)} ms with the other key (${alone.length} and ${together.length} responses, p ${chance < 0.001 ? "< 0.001" : chance.toFixed(3)})`;
  const isSlower = during >= minRatio * before && during - before >= minIncreaseMs && chance < maxChance;
  return isSlower ? breach("a neighbour far over its limit leaves a key's latency alone", text) : holds(text);
}
