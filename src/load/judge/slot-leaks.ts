import type { LimitBreach } from "../../rules/limits/admission/breach.ts";
import type { Decision, History } from "../../rules/limits/admission/history.ts";
import { decide } from "../../rules/limits/admission/judge.ts";
import type { KeyFacts, LoadFacts } from "./facts.ts";
import { isAdmitted, isRefused, isAgentCall } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";

/** How a request ended, as far as its slot is concerned. */
export type RequestEnding = "left stream" | "left invoke" | "failed" | "completed";

export function endingOf(sample: SampledRequest): RequestEnding | null {
  if (!isAgentCall(sample) || isRefused(sample)) return null;
  if (sample.left) return sample.kind === "stream" ? "left stream" : "left invoke";
  if (sample.status === null) return null;
  return isAdmitted(sample) ? "completed" : "failed";
}

/**
 * Why a request was refused although there was room, where it is for slots: a slot that was never given back, and then the history is
 * explained once requests of one ending keep theirs for ever; or fewer slots than published. `null`: not for slots.
 */
export function slotBreachClause(
  judged: LimitBreach,
  use: KeyFacts,
  facts: LoadFacts,
): "LIM-6" | "LIM-17" | "SSE-27" | null {
  const { claims } = facts.scenario;
  if (!claims.includes("LIM-17") && !claims.includes("LIM-6") && !claims.includes("SSE-27")) return null;
  const ids = new Set(judged.witness);
  const refusals = use.sent.filter((each) => ids.has(each.id) && isRefused(each));
  // A 429 that shows room is not the rate's.
  if (refusals.length === 0 || refusals.some(({ remaining }) => remaining === 0)) return null;
  const ending = leakingEnding(use, facts);
  if (ending === "left stream") return "SSE-27";
  return ending === null ? "LIM-6" : "LIM-17";
}

/** The kind of ending whose slots, if they are never given back, explains the history. */
export function leakingEnding(use: KeyFacts, facts: LoadFacts): RequestEnding | null {
  const endings = new Map(use.sent.map((sample) => [sample.id, endingOf(sample)]));
  const kinds = ["left stream", "left invoke", "failed", "completed"] as const;
  const explains = (kind: RequestEnding): boolean => {
    const keeps = (decision: Decision): Decision =>
      endings.get(decision.id) === kind ? { ...decision, mayHoldUntilMs: Infinity } : decision;
    const leaking: History = { ...use.history, decisions: use.history.decisions.map(keeps) };
    return decide(leaking, facts.limits, use.options, false).kind === "explained";
  };
  return kinds.find((kind) => [...endings.values()].includes(kind) && explains(kind)) ?? null;
}

export const hasEnding = (facts: LoadFacts, ending: RequestEnding): boolean =>
  facts.sent.some((sample) => endingOf(sample) === ending);
