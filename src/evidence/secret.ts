/** A secret and the name that stands in its place. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}
