/** The reason why a use case, such as a replay, cannot start. Command line and library phrase the reason differently. */
export type UseCaseProblem =
  /** A replay cannot send `what`, such as deliveries. `does` says what a new run does, e.g. `sends them again`. */
  | { readonly kind: "run again"; readonly check: string; readonly what: string; readonly does: string }
  | { readonly kind: "several instances"; readonly check: string; readonly names: string }
  /**
   * The user gave one key, but the run used several keys, which `names` lists. `variables` lists the environment
   * variables to set instead.
   */
  | { readonly kind: "one key of several"; readonly names: string; readonly variables: string }
  | { readonly kind: "no key"; readonly name: string; readonly variable: string | null }
  | { readonly kind: "two addresses"; readonly ofReport: string; readonly ofTarget: string }
  | { readonly kind: "report on a client" }
  | { readonly kind: "report of load"; readonly folder: string }
  /** A watch cannot be resumed, because `file` is missing. A run with `--watch` writes this file. */
  | { readonly kind: "nothing to watch"; readonly folder: string; readonly file: string }
  | { readonly kind: "unreadable watch"; readonly file: string }
  | { readonly kind: "unwritable watch"; readonly folder: string; readonly reason: string }
  | { readonly kind: "rewritten statement"; readonly file: string };

/** An error that prevents a use case from starting. The use case has not sent any request to the target. */
export class UseCaseError extends Error {
  override readonly name = "UseCaseError";
  readonly problem: UseCaseProblem;

  constructor(problem: UseCaseProblem) {
    super(problem.kind);
    this.problem = problem;
  }
}
