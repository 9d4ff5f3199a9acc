/** What is wrong with one of the things that a sentence speaks of. */
export interface Mismatch {
  readonly expected: string;
  readonly actual: string;
}
