/** What has to be said otherwise before a replay can be sent; each way in has its own names for what says it. */
export type ReplayLack =
  /** The check rests on `what`, a sentence's end; a new run `does` that again. */
  | { readonly kind: "run again"; readonly check: string; readonly what: string; readonly does: string }
  | { readonly kind: "several instances"; readonly check: string; readonly names: string }
  /** One key was given, and the report was made with several. */
  | { readonly kind: "one key of several"; readonly names: string; readonly variables: string }
  /** `variable` would hold the key. */
  | { readonly kind: "no key"; readonly name: string; readonly variable: string | null }
  | { readonly kind: "two addresses"; readonly ofReport: string; readonly ofTarget: string };

/** Nothing was sent. */
export class ReplayProblem extends Error {
  override readonly name = "ReplayProblem";
  readonly lack: ReplayLack;

  constructor(lack: ReplayLack) {
    super(lack.kind);
    this.lack = lack;
  }
}
