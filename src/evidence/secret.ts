import { unescapeOnce } from "./unescape.ts";

/** A secret value, and the name that replaces it in redacted texts. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Added to the name in `[redacted NAME]` if the text contained the secret without its last character. */
export const cutOffMark = ", its last character cut off";

/** Added to the name in `[redacted NAME]` for a part or a changed form of the secret. */
export const partMark = ", in part or changed";

/** The prefix of every secret that the harness generates. By itself it is no leak. */
export const generatedSecretPrefix = "conformance-";

/** Generates a webhook secret without eight digits in a row, so that redaction spares the numbers of a report. */
export const generateSecret = (): string =>
  generatedSecretPrefix +
  crypto
    .randomUUID()
    .replaceAll("-", "")
    .replaceAll(/.{4}(?=.)/g, "$&-");

/** At least this many consecutive characters of a secret count as a leak. */
export const minLeakLength = 8;

/** One form in which a text may contain a secret, such as its base64. */
export interface SecretEncoding {
  readonly name: string;
  readonly text: string;
  /** Whether `text` is the secret itself, and not an encoding of it. */
  readonly isPlain: boolean;
  /** Length of {@link generatedSecretPrefix} if the secret begins with it, otherwise 0. */
  readonly prefixLength: number;
}

/** A shorter secret has no encodings to search for, because those occur in texts by chance. */
const minEncodedLength = 6;

/** Returns all forms of a secret: plain, unescaped, reversed, hexadecimal, and base64 at any offset in a text. */
export function encodingsOf({ name, value }: Secret): SecretEncoding[] {
  const prefixLength = value.startsWith(generatedSecretPrefix) ? generatedSecretPrefix.length : 0;
  const plain: SecretEncoding = { name, text: value, isPlain: true, prefixLength };
  if (value.length < minEncodedLength) return [plain];
  const bytes = Buffer.from(value, "utf8");
  const others = new Set([
    ...unescapedEncodings(value),
    ...(bytes.length === value.length ? [] : [bytes.toString("latin1")]),
    bytes.toString("hex"),
    ...base64Encodings(bytes),
    ...(prefixLength > 0 ? [] : [Array.from(value).toReversed().join("")]),
  ]);
  others.delete(value);
  return [
    plain,
    ...[...others]
      .filter((text) => text.length >= minLeakLength)
      .map((text) => ({ name, text, isPlain: false, prefixLength: 0 })),
  ];
}

/** Returns the forms of a secret that itself contains escapes, such as `a%41b`, after each unescaping. */
function unescapedEncodings(value: string): string[] {
  const once = unescapeOnce(value)?.text;
  if (once === undefined) return [];
  return [once, ...unescapedEncodings(once)];
}

/** Returns the base64 of a secret at three offsets, without characters that depend on the text around it. */
function base64Encodings(text: Buffer): string[] {
  const encodings = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), text]);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  return [...encodings, ...encodings.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

/**
 * Returns the name that replaces a match, with an ending if the match is not the whole secret.
 * @param at position in the secret at which the match begins
 * @param found the matched text
 */
export function replacementName({ name, text, isPlain }: SecretEncoding, at: number, found: string): string {
  const isWhole = at === 0 && found.length === text.length;
  if (isWhole && (!isPlain || found === text)) return name;
  if (isPlain && at === 0 && found === text.slice(0, -1)) return name + cutOffMark;
  return name + partMark;
}
