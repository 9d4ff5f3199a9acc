import { decisionOf, type Decision, type DecisionOutcome, type History } from "../history.ts";

/** Several requests at intervals of `everyMs`, each decided within 5 ms. */
export interface Step {
  readonly fromMs: number;
  readonly everyMs: number;
  readonly outcomes: readonly DecisionOutcome[];
}

export const admitted = (count: number): DecisionOutcome[] => Array.from({ length: count }, () => "admitted");
export const refused = (count: number): DecisionOutcome[] => Array.from({ length: count }, () => "refused");

/** Makes a history on a fresh key from these steps. */
export function script(...steps: readonly Step[]): History {
  const decisions = steps.flatMap((step) =>
    step.outcomes.map((outcome, at) => ({ outcome, ms: step.fromMs + at * step.everyMs })),
  );
  return { priorUse: "nothing", decisions: decisions.map(({ outcome, ms }, index) => quick(`r${index}`, ms, outcome)) };
}

function quick(id: string, sentMs: number, outcome: DecisionOutcome): Decision {
  return decisionOf({ id, sentMs, answeredMs: sentMs + 5, endedMs: sentMs + 5, outcome });
}

/** Makes a history of one request at each of these times. `admits` decides about each. */
export function drive(timesMs: readonly number[], admits: (nowMs: number) => boolean): History {
  const decisions = timesMs.map((ms, index) => quick(`r${index}`, ms, admits(ms) ? "admitted" : "refused"));
  return { priorUse: "nothing", decisions };
}
