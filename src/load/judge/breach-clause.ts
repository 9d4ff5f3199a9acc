import { hourMs, minuteMs } from "../../base/duration.ts";
import type { LimitBreach } from "../../rules/limits/admission/breach.ts";
import { type Decision, type History, requestsIn } from "../../rules/limits/admission/history.ts";
import { verdictOfHistory } from "../../rules/limits/admission/judge.ts";
import { breachSide, maxInClosedWindow } from "../../rules/limits/key-history.ts";
import { isAdmitted, isAgentCall, isRefused } from "../../rules/limits/sample.ts";
import { describeRequests, type KeyFacts, keyFactsIn, type LoadFacts } from "./facts.ts";
import { breach, type JudgeResult, unproven } from "./finding.ts";
import type { SampledRequest } from "./sampled-requests.ts";

export type AdmissionClause = "LIM-1" | "LIM-2" | "LIM-3" | "LIM-4" | "LIM-5" | "LIM-6" | "LIM-17" | "SSE-27";

/** Returns the clause that a key's admissions and refusals break; `null` if they are legal. */
export function breachedClause(
  use: KeyFacts,
  facts: LoadFacts,
): { readonly clause: AdmissionClause; readonly judged: LimitBreach } | null {
  const judged = use.judgement();
  return judged.kind === "explained" ? null : { clause: clauseOfBreach(judged, use, facts), judged };
}

function clauseOfBreach(judged: LimitBreach, use: KeyFacts, facts: LoadFacts): AdmissionClause {
  if (judged.limit === "concurrency") return "LIM-5";
  if (admitsTooMany(judged, use, facts))
    return judged.limit === "hour" ? "LIM-3" : admitsTooManyPerMinute(use, facts) ? "LIM-1" : "LIM-3";
  const slots = slotBreachClause(judged, use, facts);
  if (slots !== null) return slots;
  const reported = reportedClause(judged, facts);
  if (reported !== null) return reported;
  return maxAdmittedWithin(use, minuteMs) >= facts.limits.perMinute ? "LIM-4" : "LIM-2";
}

const admitsTooManyPerMinute = (use: KeyFacts, { limits }: LoadFacts): boolean =>
  maxAdmittedWithin(use, minuteMs) > limits.perMinute;

const admitsTooMany = (judged: LimitBreach, use: KeyFacts, facts: LoadFacts): boolean =>
  breachSide(
    judged,
    () => admitsTooManyPerMinute(use, facts) || maxAdmittedWithin(use, hourMs) > facts.limits.perHour,
  ) === "over";

function reportedClause({ witness }: LimitBreach, { sent, limits }: LoadFacts): "LIM-2" | "LIM-4" | null {
  const ids = new Set(witness);
  const reported = new Set(sent.flatMap((each) => (ids.has(each.id) && isRefused(each) ? [each.limit] : [])));
  if (reported.size !== 1 || limits.perHour === limits.perMinute) return null;
  if (reported.has(limits.perMinute)) return "LIM-2";
  return reported.has(limits.perHour) ? "LIM-4" : null;
}

export const toBreachResult = (judged: LimitBreach, use: KeyFacts, facts: LoadFacts): JudgeResult =>
  breach(judged.expected, `${judged.actual}; ${formatCounts(use)}`, describeRequests(judged.witness, facts));

export function formatCounts({ history: { decisions }, key }: KeyFacts): string {
  const of = (outcome: Decision["outcome"]): number => requestsIn(decisions.filter((each) => each.outcome === outcome));
  const others = of("failed") + of("unknown");
  return `${of("admitted")} of ${requestsIn(decisions)} admitted, ${of("refused")} refused${others > 0 ? `, ${others} others` : ""} (${key} key)`;
}

/** Returns the largest number of admitted requests that certainly fall within one period of `windowMs`. */
export const maxAdmittedWithin = ({ history }: KeyFacts, windowMs: number): number =>
  maxInClosedWindow(
    history.decisions
      .filter(({ outcome }) => outcome === "admitted")
      .map(({ decided, count }) => ({ ...decided, count })),
    windowMs,
  );

export function judgeEachKey(facts: LoadFacts, judge: (use: KeyFacts) => JudgeResult): JudgeResult {
  const all = keyFactsIn(facts).map(judge);
  const found = (kind: JudgeResult["kind"]): JudgeResult | undefined => all.find((each) => each.kind === kind);
  return found("breach") ?? found("holds") ?? all[0] ?? unproven("nothing was sent");
}

/** Creates a function that judges `clause` for each key. If the key breaks another clause, `clause` is unproven. */
export const judgeUnlessOtherBreach =
  (clause: AdmissionClause, judge: (use: KeyFacts, facts: LoadFacts) => JudgeResult) =>
  (facts: LoadFacts): JudgeResult =>
    judgeEachKey(facts, (use) => {
      const broken = breachedClause(use, facts);
      if (broken === null) return judge(use, facts);
      return broken.clause === clause
        ? toBreachResult(broken.judged, use, facts)
        : unproven(`another limit is broken already (${broken.clause})`);
    });

/** The way in which an invoke or a stream ended. `left`: the client disconnected before the response was complete. */
export type RequestEnding = "left stream" | "left invoke" | "failed" | "completed";

export function endingOf(sample: SampledRequest): RequestEnding | null {
  if (!isAgentCall(sample) || isRefused(sample)) return null;
  if (sample.left) return sample.kind === "stream" ? "left stream" : "left invoke";
  if (sample.status === null) return null;
  return isAdmitted(sample) ? "completed" : "failed";
}

/**
 * Returns the clause about concurrency slots, e.g. LIM-6, that the refusals in the witness of `judged` break. Returns
 * `null` if the witness has no refusal, a rate limit may explain one, or the scenario tests no clause about slots.
 */
function slotBreachClause(judged: LimitBreach, use: KeyFacts, facts: LoadFacts): "LIM-6" | "LIM-17" | "SSE-27" | null {
  if (!["LIM-6", "LIM-17", "SSE-27"].some((clause) => facts.scenario.claims.includes(clause))) return null;
  const ids = new Set(judged.witness);
  const refusals = use.samples.filter((each) => ids.has(each.id) && isRefused(each));
  // A 429 with `Remaining: 0` may come from a rate limit instead of the concurrency limit.
  if (refusals.length === 0 || refusals.some(({ remaining }) => remaining === 0)) return null;
  const ending = endingThatKeepsSlots(use, facts);
  if (ending === "left stream") return "SSE-27";
  return ending === null ? "LIM-6" : "LIM-17";
}

/**
 * Finds an ending, e.g. `failed`, after which requests seem to keep their concurrency slots: this would explain all
 * refusals. `null` if no ending explains them.
 */
export function endingThatKeepsSlots(use: KeyFacts, facts: LoadFacts): RequestEnding | null {
  const endings = new Map(use.samples.map((sample) => [sample.id, endingOf(sample)]));
  const kinds = ["left stream", "left invoke", "failed", "completed"] as const;
  const explains = (kind: RequestEnding): boolean => {
    const withLeak = (decision: Decision): Decision =>
      endings.get(decision.id) === kind ? { ...decision, mayHoldUntilMs: Infinity } : decision;
    const leaking: History = { ...use.history, decisions: use.history.decisions.map(withLeak) };
    return verdictOfHistory(leaking, facts.limits, use.options, false).kind === "explained";
  };
  return kinds.find((kind) => [...endings.values()].includes(kind) && explains(kind)) ?? null;
}

export const hasRequestEndingWith = (facts: LoadFacts, ending: RequestEnding): boolean =>
  facts.sent.some((sample) => endingOf(sample) === ending);
