/** Why a use case cannot start, as data: each entry point describes it with its own flags or options. */
export type UseCaseProblem =
  /** A check cannot be replayed: it needs `what`. A new run `does` that again. Both are parts of a sentence. */
  | { readonly kind: "run again"; readonly check: string; readonly what: string; readonly does: string }
  | { readonly kind: "several instances"; readonly check: string; readonly names: string }
  /** One key was given, but the report was made with several. `variables`: where the needed keys could be set. */
  | { readonly kind: "one key of several"; readonly names: string; readonly variables: string }
  /** `variable`: where the key could be set. */
  | { readonly kind: "no key"; readonly name: string; readonly variable: string | null }
  | { readonly kind: "two addresses"; readonly ofReport: string; readonly ofTarget: string }
  | { readonly kind: "report of load"; readonly folder: string }
  /** `file`: the missing file that a watched run writes. */
  | { readonly kind: "nothing to watch"; readonly folder: string; readonly file: string }
  | { readonly kind: "unreadable watch"; readonly file: string }
  | { readonly kind: "unwritable watch"; readonly folder: string; readonly reason: string }
  /** The statement was changed, or not written by the harness. */
  | { readonly kind: "rewritten statement"; readonly file: string };

/** A use case could not start. Nothing was sent. */
export class UseCaseError extends Error {
  override readonly name = "UseCaseError";
  readonly problem: UseCaseProblem;

  constructor(problem: UseCaseProblem) {
    super(problem.kind);
    this.problem = problem;
  }
}
