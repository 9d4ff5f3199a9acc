/** Why a use case cannot start, as data. Each entry point describes the problem with its own flags or options. */
export type UseCaseProblem =
  /** A check cannot be replayed. `what` says which evidence cannot be sent again, and `does` what a new run does about it, as phrases. */
  | { readonly kind: "run again"; readonly check: string; readonly what: string; readonly does: string }
  | { readonly kind: "several instances"; readonly check: string; readonly names: string }
  /**
   * The user gave one key, but the report was made with several keys. `variables` names the environment variables that can hold the keys.
   */
  | { readonly kind: "one key of several"; readonly names: string; readonly variables: string }
  /** `variable` names the environment variable that can hold the key. */
  | { readonly kind: "no key"; readonly name: string; readonly variable: string | null }
  | { readonly kind: "two addresses"; readonly ofReport: string; readonly ofTarget: string }
  | { readonly kind: "report of load"; readonly folder: string }
  /** `file` is missing. A run with `--watch` writes it. */
  | { readonly kind: "nothing to watch"; readonly folder: string; readonly file: string }
  | { readonly kind: "unreadable watch"; readonly file: string }
  | { readonly kind: "unwritable watch"; readonly folder: string; readonly reason: string }
  /** The statement was changed by hand, or was not written by the harness. */
  | { readonly kind: "rewritten statement"; readonly file: string };

/** Thrown if a use case cannot start. Nothing was sent. */
export class UseCaseError extends Error {
  override readonly name = "UseCaseError";
  readonly problem: UseCaseProblem;

  constructor(problem: UseCaseProblem) {
    super(problem.kind);
    this.problem = problem;
  }
}
