/** The goal of a row: a bound for its ratio to the baseline, or a bound for the subject itself. */
export type RowGoal =
  | { readonly of: "ratio"; readonly is: "at most" | "at least"; readonly value: number }
  /** A bound for the subject: bytes if the row compares memory, otherwise milliseconds. */
  | { readonly of: "subject"; readonly is: "at most"; readonly value: number }
  /** No goal: the row only helps to compare other rows. */
  | { readonly of: "nothing" };

export const maxRatio = (value: number): RowGoal => ({ of: "ratio", is: "at most", value });
export const minRatio = (value: number): RowGoal => ({ of: "ratio", is: "at least", value });
export const maxSubject = (value: number): RowGoal => ({ of: "subject", is: "at most", value });
export const noGoal: RowGoal = { of: "nothing" };

/** Whether a row meets its goal; `null` if it has none. */
export function isGoalMet(
  goal: RowGoal,
  { ratio, subject }: { readonly ratio: number; readonly subject: number },
): boolean | null {
  switch (goal.of) {
    case "nothing":
      return null;
    case "subject":
      return subject <= goal.value;
    case "ratio":
      return goal.is === "at most" ? ratio <= goal.value : ratio >= goal.value;
  }
}
