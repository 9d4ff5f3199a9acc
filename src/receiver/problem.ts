/** A receiver that cannot listen as it was told to: one line that says the fact, where, and what to do. */
export class ReceiverProblem extends Error {
  override readonly name = "ReceiverProblem";
}
