/**
 * Why a use case, such as a replay, cannot start. Command line and library describe it with their own flags or options.
 */
export type UseCaseProblem =
  /**
   * A replay cannot send the evidence of this check again. `what` describes that evidence. `does` says how a new run
   * produces it.
   */
  | { readonly kind: "run again"; readonly check: string; readonly what: string; readonly does: string }
  | { readonly kind: "several instances"; readonly check: string; readonly names: string }
  /**
   * The user gave one key, but the requests used the keys `names`. `variables` are the environment variables for these
   * keys.
   */
  | { readonly kind: "one key of several"; readonly names: string; readonly variables: string }
  /**
   * The user gave no value for the key `name`. `variable` is the environment variable for it; `null` if the report
   * names none.
   */
  | { readonly kind: "no key"; readonly name: string; readonly variable: string | null }
  | { readonly kind: "two addresses"; readonly ofReport: string; readonly ofTarget: string }
  | { readonly kind: "report on a client" }
  | { readonly kind: "report of load"; readonly folder: string }
  /** `file` is missing, without which a watch cannot be resumed. A run with `--watch` writes this file. */
  | { readonly kind: "nothing to watch"; readonly folder: string; readonly file: string }
  | { readonly kind: "unreadable watch"; readonly file: string }
  | { readonly kind: "unwritable watch"; readonly folder: string; readonly reason: string }
  /** The statement was changed by hand, or was not written by the harness. */
  | { readonly kind: "rewritten statement"; readonly file: string };

/** The error for a use case that cannot start. Nothing has been sent then. */
export class UseCaseError extends Error {
  override readonly name = "UseCaseError";
  readonly problem: UseCaseProblem;

  constructor(problem: UseCaseProblem) {
    super(problem.kind);
    this.problem = problem;
  }
}
