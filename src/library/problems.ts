export { UsageProblem } from "../target/problem.ts";

/** The target could not be reached, or is no deployment of this interface, or its key is refused. The message is one sentence that says why. */
export class NothingToJudge extends Error {
  override readonly name = "NothingToJudge";
}
