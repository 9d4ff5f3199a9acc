/** Why a use case cannot start, as data. Each entry point describes the problem with its own flags or options. */
export type UseCaseProblem =
  /**
   * The evidence of this check cannot be sent again. `what` names the evidence, and `does` says what a new run does about it. Both are
   * phrases.
   */
  | { readonly kind: "run again"; readonly check: string; readonly what: string; readonly does: string }
  | { readonly kind: "several instances"; readonly check: string; readonly names: string }
  /**
   * The user gave one key, but the report needs several, which `names` lists. `variables` lists the environment variables that can hold
   * them.
   */
  | { readonly kind: "one key of several"; readonly names: string; readonly variables: string }
  /** A key is missing. `variable` names the environment variable that can hold it. */
  | { readonly kind: "no key"; readonly name: string; readonly variable: string | null }
  | { readonly kind: "two addresses"; readonly ofReport: string; readonly ofTarget: string }
  | { readonly kind: "report on a client" }
  | { readonly kind: "report of load"; readonly folder: string }
  /** The folder cannot be watched, because `file` is missing in it. A run with `--watch` writes that file. */
  | { readonly kind: "nothing to watch"; readonly folder: string; readonly file: string }
  | { readonly kind: "unreadable watch"; readonly file: string }
  | { readonly kind: "unwritable watch"; readonly folder: string; readonly reason: string }
  /** The statement was changed by hand, or the harness did not write it. */
  | { readonly kind: "rewritten statement"; readonly file: string };

/** Thrown if a use case cannot start. Nothing has been sent then. */
export class UseCaseError extends Error {
  override readonly name = "UseCaseError";
  readonly problem: UseCaseProblem;

  constructor(problem: UseCaseProblem) {
    super(problem.kind);
    this.problem = problem;
  }
}
