import { type RequestSample, isAdmitted, isRefused } from "../sample.ts";
import { type Decision, type DecisionOutcome, decisionOf, type Span } from "./history.ts";

/** The fields of a sample that a decision is derived from. Client's clock, in ms. */
type Decided = Pick<RequestSample, "id" | "kind" | "status" | "sentMs" | "headMs" | "endMs">;

/** A health check counts as `failed`, which may or may not have counted: other checks judge whether it is limited. */
export function outcomeOf(answer: Pick<RequestSample, "kind" | "status">): DecisionOutcome {
  if (answer.status === null) return "unknown";
  if (answer.kind === "health") return "failed";
  if (isRefused(answer)) return "refused";
  return isAdmitted(answer) ? "admitted" : "failed";
}

/** Returns the limiter's decision on a request. It fell within `decided` on the limiter's clock, if a response came. */
export function decisionOfResponse(
  answer: Decided,
  decided: Span,
  outcome: DecisionOutcome = outcomeOf(answer),
): Decision {
  const isAnswered = answer.status !== null;
  const decision = decisionOf({
    id: answer.id,
    sentMs: answer.sentMs,
    answeredMs: isAnswered ? answer.headMs : Infinity,
    endedMs: isAnswered ? Math.max(answer.headMs, answer.endMs) : Infinity,
    outcome,
  });
  return { ...decision, decided: { fromMs: decided.fromMs, toMs: isAnswered ? decided.toMs : Infinity } };
}
