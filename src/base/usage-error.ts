/**
 * An error in the user's input. Its message is one line: the fact, where, and what to do. The command ends with exit
 * code 2.
 */
export class UsageError extends Error {
  override readonly name = "UsageProblem";
}
