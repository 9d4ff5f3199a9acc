/** The goal of a row: a bound for its ratio to the baseline, or a bound for the subject itself. */
export type Goal =
  | { readonly of: "ratio"; readonly is: "at most" | "at least"; readonly value: number }
  /** A bound in milliseconds or bytes, depending on whether the row compares time or memory. */
  | { readonly of: "subject"; readonly is: "at most"; readonly value: number }
  /** The row has no goal: it is only compared with other rows. */
  | { readonly of: "nothing" };

export const atMost = (value: number): Goal => ({ of: "ratio", is: "at most", value });
export const atLeast = (value: number): Goal => ({ of: "ratio", is: "at least", value });
export const itself = (value: number): Goal => ({ of: "subject", is: "at most", value });
export const noGoal: Goal = { of: "nothing" };

/** Whether a row meets its goal; `null` if it has none. */
export function isMet(
  goal: Goal,
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
