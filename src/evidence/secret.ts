/** A secret and the name that stands in its place. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Marks the name of a secret that stands there without its last character. */
export const cutMark = ", its last character cut off";

/** Marks the name of a secret of which less, or something that is only like it, stands there: nothing can put it back. */
export const partMark = ", in part or changed";

/** Every secret that the harness makes begins with this word, which stands in other texts as well. */
export const generatedPrefix = "conformance-";
