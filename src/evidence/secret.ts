/** A secret value, and the name that replaces it in redacted texts. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Suffix of the name if the last character of the secret is missing. */
export const cutOffMark = ", its last character cut off";

/** Suffix of the name if only a part of the secret, or a changed form, was found. The original cannot be restored. */
export const partMark = ", in part or changed";

/** The prefix of every secret that the harness generates. Ordinary texts contain it too. */
export const generatedPrefix = "conformance-";

/** Generates a webhook secret. It never has eight digits in a row, so that no number in the evidence can be taken for a part of it. */
export const generateSecret = (): string =>
  generatedPrefix +
  crypto
    .randomUUID()
    .replaceAll("-", "")
    .replaceAll(/.{4}(?=.)/g, "$&-");
