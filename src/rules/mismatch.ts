/** An expected and an actual value that differ. */
export interface Mismatch {
  readonly expected: string;
  readonly actual: string;
}
