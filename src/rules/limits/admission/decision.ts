import { type RequestSample, isAdmitted, isRefused } from "../sample.ts";
import { type Decision, type DecisionOutcome, decisionOf, type Span } from "./history.ts";

/** What a decision is read from. Client's clock, in ms. */
type Decided = Pick<RequestSample, "id" | "kind" | "status" | "sentMs" | "headMs" | "endMs">;

/** Health is not limited; whether it counts is judged elsewhere, so here it may. */
export function outcomeOf(answer: Pick<RequestSample, "kind" | "status">): DecisionOutcome {
  if (answer.status === null) return "unknown";
  if (answer.kind === "health") return "failed";
  if (isRefused(answer)) return "refused";
  return isAdmitted(answer) ? "admitted" : "failed";
}

/** The decision behind an answer, which fell within `decided` on the limiter's clock, as long as an answer came. */
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
