export interface Mismatch {
  readonly expected: string;
  readonly actual: string;
}
