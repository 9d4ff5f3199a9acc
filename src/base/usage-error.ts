import type { Line } from "./line.ts";

/**
 * An error in the user's input. Its message is one line: the fact, where, and what to do. The command ends with exit
 * code 2.
 */
export class UsageError extends Error {
  override readonly name = "UsageProblem";
  declare readonly message: Line;

  // oxlint-disable-next-line no-useless-constructor -- it takes only a line
  constructor(message: Line) {
    super(message);
  }
}
