import { type Decision, type DecisionOutcome, decisionOf, type Span } from "./history.ts";

/** What a client has of any answer. Client's clock, in ms. */
export interface Answer {
  readonly id: string;
  /** `health` is not limited, whatever its answer. */
  readonly kind: string;
  /** `null`: no answer came. */
  readonly status: number | null;
  readonly sentMs: number;
  readonly headMs: number;
  readonly endMs: number;
}

/** Whether the limiter let the request through. */
export const isAdmitted = ({ status }: Pick<Answer, "status">): boolean =>
  status !== null && status >= 200 && status < 300;

/** Health is not limited; whether it counts is judged elsewhere, so here it may. */
export function outcomeOf(answer: Answer): DecisionOutcome {
  if (answer.status === null) return "unknown";
  if (answer.kind === "health") return "failed";
  if (answer.status === 429) return "refused";
  return isAdmitted(answer) ? "admitted" : "failed";
}

/** The decision behind an answer, which fell within `decided` on the limiter's clock, as long as an answer came. */
export function decisionBehind(answer: Answer, decided: Span, outcome: DecisionOutcome = outcomeOf(answer)): Decision {
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
