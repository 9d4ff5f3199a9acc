import { unescapeOnce } from "./unescape.ts";

/** A secret value, and the name that replaces it in redacted texts. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Added to the name in `[redacted NAME]` if the text contained the secret without its last character. */
export const cutOffMark = ", its last character cut off";

/** `[redacted NAME, in part or changed]` replaces a part of a secret, or an altered secret. */
export const partMark = ", in part or changed";

/** The prefix of every secret that the harness generates. The prefix alone is not a leak. */
export const generatedSecretPrefix = "conformance-";

/**
 * Generates a webhook secret without eight digits in a row. If a secret had eight, redaction would hide the same digits
 * in a report's numbers.
 */
export const generateSecret = (): string =>
  generatedSecretPrefix +
  crypto
    .randomUUID()
    .replaceAll("-", "")
    .replaceAll(/.{4}(?=.)/g, "$&-");

/** At least this many consecutive characters of a secret count as a leak. */
export const minLeakLength = 8;

export interface SecretEncoding {
  readonly name: string;
  readonly text: string;
  readonly isPlain: boolean;
  readonly prefixLength: number;
}

/** A secret below this length is searched for only as plain text. Its encodings would match unrelated texts. */
const minEncodedLength = 6;

/** Returns the forms in which a text may contain a secret, such as reversed, hexadecimal and base64. */
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

function unescapedEncodings(value: string): string[] {
  const once = unescapeOnce(value)?.text;
  if (once === undefined) return [];
  return [once, ...unescapedEncodings(once)];
}

/**
 * Returns the forms that a secret can have inside a longer base64 text. The form depends on the secret's position
 * modulo 3.
 */
function base64Encodings(text: Buffer): string[] {
  const encodings = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), text]);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  return [...encodings, ...encodings.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

/**
 * Returns the name that replaces the text `found`. The ending `cutOffMark` or `partMark` marks a partial or changed
 * secret.
 */
export function replacementName({ name, text, isPlain }: SecretEncoding, at: number, found: string): string {
  const isWhole = at === 0 && found.length === text.length;
  if (isWhole && (!isPlain || found === text)) return name;
  if (isPlain && at === 0 && found === text.slice(0, -1)) return name + cutOffMark;
  return name + partMark;
}
