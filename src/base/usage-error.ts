import type { Line } from "./line.ts";

/** An error in the user's input. The message says what is wrong, where, and what to do. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageProblem";
  declare readonly message: Line;

  // oxlint-disable-next-line no-useless-constructor -- it takes only a line
  constructor(message: Line) {
    super(message);
  }
}
