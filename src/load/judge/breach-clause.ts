import { maxInClosedWindow, breachSide } from "../../rules/limits/key-history.ts";
import type { LimitBreach } from "../../rules/limits/admission/breach.ts";
import { hourMs, minuteMs } from "../../base/duration.ts";
import { type Decision, requestsIn } from "../../rules/limits/admission/history.ts";
import { type KeyFacts, describeRequests, type LoadFacts } from "./facts.ts";
import { breach, type JudgeResult, unproven } from "./finding.ts";
import { slotBreachClause } from "./slot-leaks.ts";
import { isRefused } from "../../rules/limits/sample.ts";

/** Clauses that a breach of the admission history belongs to. */
export type AdmissionClause = "LIM-1" | "LIM-2" | "LIM-3" | "LIM-4" | "LIM-5" | "LIM-6" | "LIM-17" | "SSE-27";

/** The clause that a key's history breaks, `null` where an admissible limiter explains it. */
export function breachedClause(
  use: KeyFacts,
  facts: LoadFacts,
): { readonly clause: AdmissionClause; readonly judged: LimitBreach } | null {
  const judged = use.judgement();
  return judged.kind === "explained" ? null : { clause: clauseOf(judged, use, facts), judged };
}

function clauseOf(judged: LimitBreach, use: KeyFacts, facts: LoadFacts): AdmissionClause {
  if (judged.limit === "concurrency") return "LIM-5";
  if (isOver(judged, use, facts)) return judged.limit === "hour" ? "LIM-3" : overMinute(use, facts) ? "LIM-1" : "LIM-3";
  const slots = slotBreachClause(judged, use, facts);
  if (slots !== null) return slots;
  const spoken = spokenOf(judged, facts);
  if (spoken !== null) return spoken;
  return maxAdmittedWithin(use, minuteMs) >= facts.limits.perMinute ? "LIM-4" : "LIM-2";
}

const overMinute = (use: KeyFacts, { limits }: LoadFacts): boolean =>
  maxAdmittedWithin(use, minuteMs) > limits.perMinute;

const isOver = (judged: LimitBreach, use: KeyFacts, facts: LoadFacts): boolean =>
  breachSide(judged, () => overMinute(use, facts) || maxAdmittedWithin(use, hourMs) > facts.limits.perHour) === "over";

/** The limit that the refusals of a witness speak of, if they speak of one. */
function spokenOf({ witness }: LimitBreach, { sent, limits }: LoadFacts): "LIM-2" | "LIM-4" | null {
  const ids = new Set(witness);
  const shown = new Set(sent.flatMap((each) => (ids.has(each.id) && isRefused(each) ? [each.limit] : [])));
  if (shown.size !== 1 || limits.perHour === limits.perMinute) return null;
  if (shown.has(limits.perMinute)) return "LIM-2";
  return shown.has(limits.perHour) ? "LIM-4" : null;
}

/** The breach of a key's history in words, with its witness. */
export const describeBreach = (judged: LimitBreach, use: KeyFacts, facts: LoadFacts): JudgeResult =>
  breach(judged.expected, `${judged.actual}; ${formatCounts(use)}`, describeRequests(judged.witness, facts));

/** What was admitted of what was sent on a key. */
export function formatCounts({ history: { decisions }, key }: KeyFacts): string {
  const of = (outcome: Decision["outcome"]): number => requestsIn(decisions.filter((each) => each.outcome === outcome));
  const others = of("failed") + of("unknown");
  return `${of("admitted")} of ${requestsIn(decisions)} admitted, ${of("refused")} refused${others > 0 ? `, ${others} others` : ""} (${key} key)`;
}

/** The most requests that were certainly admitted within one span of this length, in target ms. */
export const maxAdmittedWithin = ({ history }: KeyFacts, windowMs: number): number =>
  maxInClosedWindow(
    history.decisions
      .filter(({ outcome }) => outcome === "admitted")
      .map(({ decided, count }) => ({ ...decided, count })),
    windowMs,
  );

/** Judges each key; one that breaks a clause speaks for all, one that keeps it for those that tell nothing. */
export function judgeEachKey(facts: LoadFacts, judge: (use: KeyFacts) => JudgeResult): JudgeResult {
  const all = [facts.main, ...(facts.second === null ? [] : [facts.second])].map(judge);
  const found = (kind: JudgeResult["kind"]): JudgeResult | undefined => all.find((each) => each.kind === kind);
  return found("breach") ?? found("holds") ?? all[0] ?? unproven("nothing was sent");
}
