/** Input that cannot be used: one line that says the fact, where, and what to do. The command ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageProblem";
}
