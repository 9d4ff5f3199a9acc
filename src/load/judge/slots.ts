import type { LimitBreach } from "../../rules/limits/admission/breach.ts";
import { maxHeldSlots } from "../../rules/limits/admission/slots.ts";
import {
  breachedClause,
  formatCounts,
  judgeEachKey,
  judgeUnlessOtherBreach,
  toBreachResult,
  type RequestEnding,
  endingOf,
  endingThatKeepsSlots,
} from "./breach-clause.ts";
import { type KeyFacts, describeRequest, describeRequests, type LoadFacts } from "./facts.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { isAdmitted, isRefused, isAgentCall } from "../../rules/limits/sample.ts";

/** Judges LIM-5: the server admits no more concurrent requests than the published limit. */
export function judgeMaxConcurrent(facts: LoadFacts): JudgeResult {
  return judgeEachKey(facts, (use) => {
    const broken = breachedClause(use, facts);
    if (broken?.clause === "LIM-5" && !isOfStreams(broken.judged, use))
      return toBreachResult(broken.judged, use, facts);
    const beyond = findAdmittedBeyondSlots(use, facts, false);
    if (beyond !== null) return beyond;
    const { count } = maxHeldSlots(use.history.decisions);
    if (count < facts.limits.concurrent)
      return unproven(`at most ${count} of ${facts.limits.concurrent} slots were certainly held at once`);
    return use.samples.some(isRefused)
      ? holds(`${count} at once, and further ones were refused`)
      : unproven("no request exceeded them");
  });
}

const isOfStreams = ({ witness }: LimitBreach, { samples }: KeyFacts): boolean => {
  const ids = new Set(witness);
  return samples.some(({ id, kind }) => ids.has(id) && kind === "stream");
};

function findAdmittedBeyondSlots(use: KeyFacts, facts: LoadFacts, amongStreams: boolean): JudgeResult | null {
  const { concurrent } = facts.limits;
  const streams = new Set(use.samples.filter(({ kind }) => kind === "stream").map(({ id }) => id));
  const holders = use.history.decisions.filter(({ held }) => held !== null);
  if (holders.length < concurrent) return null;
  for (const one of use.history.decisions) {
    if (one.outcome !== "admitted" || one.held !== null) continue;
    const around = holders.filter(
      ({ held }) => held !== null && held.fromMs <= one.inFlight.fromMs && held.toMs >= one.inFlight.toMs,
    );
    if (around.length < concurrent || around.some(({ id }) => streams.has(id)) !== amongStreams) continue;
    const what = amongStreams ? "open streams" : "requests in flight";
    return breach(
      `a request beyond ${concurrent} ${what} is refused with 429, or waits`,
      `it was admitted while all ${around.length} were in flight`,
      describeRequests([...around.map(({ id }) => id), one.id], facts),
    );
  }
  return null;
}

/** Judges LIM-18: a stream holds its concurrency slot until its end. */
export function judgeStreamsHoldSlots(facts: LoadFacts): JudgeResult {
  return judgeEachKey(facts, (use) => {
    const broken = breachedClause(use, facts);
    if (broken?.clause === "LIM-5" && isOfStreams(broken.judged, use)) return toBreachResult(broken.judged, use, facts);
    const beyond = findAdmittedBeyondSlots(use, facts, true);
    if (beyond !== null) return beyond;
    const streams = new Set(use.samples.filter(({ kind }) => kind === "stream").map(({ id }) => id));
    const { count } = maxHeldSlots(use.history.decisions.filter(({ id }) => streams.has(id)));
    if (count < facts.limits.concurrent)
      return unproven(`only ${count} of ${facts.limits.concurrent} slots were certainly held by streams at once`);
    return use.samples.some((each) => isRefused(each) && (each.remaining ?? 1) > 0)
      ? holds(`${count} streams at once, and further requests refused while they ran`)
      : unproven("nothing was refused while all slots were held by streams");
  });
}

/** Judges LIM-6: the server admits at least the tier's published number of concurrent requests. */
export const judgeMinConcurrent = judgeUnlessOtherBreach("LIM-6", (use, { limits: { concurrent } }) => {
  const { count } = maxHeldSlots(use.history.decisions);
  if (count >= concurrent) return holds(`${count} held a slot at once`);
  return unproven(`at most ${count} of ${concurrent} slots were certainly held at once`);
});

/** Creates a judge of LIM-17 or SSE-27: a request with this `ending`, e.g. `failed`, frees its concurrency slot. */
const judgeRelease =
  (clause: "LIM-17" | "SSE-27", ending: RequestEnding) =>
  (facts: LoadFacts): JudgeResult =>
    judgeEachKey(facts, (use) => {
      const broken = breachedClause(use, facts);
      if (broken?.clause === clause && (endingThatKeepsSlots(use, facts) ?? "completed") === ending)
        return toBreachResult(broken.judged, use, facts);
      if (broken !== null) return unproven(`another limit is broken already (${broken.clause})`);
      const ended = use.samples.filter((sample) => endingOf(sample) === ending);
      const { concurrent } = facts.limits;
      const last = ended[concurrent - 1];
      if (last === undefined)
        return unproven(`only ${ended.length} requests ended so (${ending}): too few to use up ${concurrent} slots`);
      const after = use.samples.find((each) => isAgentCall(each) && isAdmitted(each) && each.sentMs >= last.endMs);
      if (after === undefined)
        return unproven(`nothing was admitted after ${ended.length} requests had ended so: ${formatCounts(use)}`);
      return holds(
        `${ended.length} ended so (${ending}), and later ones were admitted: ${describeRequest(after, facts)}`,
      );
    });

export const judgeSlotsAfterCompletion = judgeRelease("LIM-17", "completed");
export const judgeSlotsAfterFailure = judgeRelease("LIM-17", "failed");
export const judgeSlotsAfterLeftInvokes = judgeRelease("LIM-17", "left invoke");
export const judgeSlotsAfterLeftStreams = judgeRelease("SSE-27", "left stream");
