/** What has to be done otherwise before a use case can go on. Each way in has names of its own for what says it. */
export type UseCaseProblem =
  /** A replay of a check that rests on `what`, a sentence's end; a new run `does` that again. */
  | { readonly kind: "run again"; readonly check: string; readonly what: string; readonly does: string }
  | { readonly kind: "several instances"; readonly check: string; readonly names: string }
  /** One key was given, and the report was made with several; `variables` would hold those that are needed. */
  | { readonly kind: "one key of several"; readonly names: string; readonly variables: string }
  /** `variable` would hold the key. */
  | { readonly kind: "no key"; readonly name: string; readonly variable: string | null }
  | { readonly kind: "two addresses"; readonly ofReport: string; readonly ofTarget: string }
  | { readonly kind: "report of load"; readonly folder: string }
  /** `file` is what a run writes that is to be watched. */
  | { readonly kind: "nothing to watch"; readonly folder: string; readonly file: string }
  | { readonly kind: "unreadable watch"; readonly file: string }
  | { readonly kind: "unwritable watch"; readonly folder: string; readonly reason: string }
  /** A statement that was written by hand, or changed. */
  | { readonly kind: "rewritten statement"; readonly file: string };

/** Nothing was sent. */
export class UseCaseError extends Error {
  override readonly name = "UseProblem";
  readonly problem: UseCaseProblem;

  constructor(problem: UseCaseProblem) {
    super(problem.kind);
    this.problem = problem;
  }
}
