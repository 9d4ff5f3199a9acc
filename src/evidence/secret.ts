/** A secret value, and the name that replaces it in redacted texts. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Added to the name in `[redacted NAME]` if the text contained the secret without its last character. */
export const cutOffMark = ", its last character cut off";

/** Added to the name in `[redacted NAME]` if the text contained a part of the secret, or a changed form of it. */
export const partMark = ", in part or changed";

/**
 * The prefix of every secret that the harness generates. It is no leak by itself, because ordinary texts contain it
 * too.
 */
export const generatedPrefix = "conformance-";

/**
 * Generates a webhook secret. It never has eight digits in a row, so that the redactor takes no number for a part of
 * it.
 */
export const generateSecret = (): string =>
  generatedPrefix +
  crypto
    .randomUUID()
    .replaceAll("-", "")
    .replaceAll(/.{4}(?=.)/g, "$&-");
