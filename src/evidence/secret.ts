/** A secret, and the name that replaces it. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Added to the name if the last character of the secret is missing. */
export const cutOffMark = ", its last character cut off";

/** Added to the name if only a part, or a changed form, of the secret was found. The original cannot be restored. */
export const partMark = ", in part or changed";

/** The prefix of every secret that the harness generates. Other texts contain this prefix, too. */
export const generatedPrefix = "conformance-";

/**
 * Generates a webhook secret. The secret never has eight digits in a row, so that no number in the evidence looks like
 * a part of it.
 */
export const generateSecret = (): string =>
  generatedPrefix +
  crypto
    .randomUUID()
    .replaceAll("-", "")
    .replaceAll(/.{4}(?=.)/g, "$&-");
