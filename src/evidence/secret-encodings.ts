import { cutOffMark, generatedPrefix, partMark, type Secret } from "./secret.ts";
import { unescapeOnce } from "./unescape.ts";

/** From this number of consecutive characters on, a part of a secret counts as a leak. */
export const minLeakLength = 8;

/** A form in which a text may contain a secret, after the escapes in the text have been undone. */
export interface SecretEncoding {
  readonly name: string;
  readonly text: string;
  /** Whether the form is the secret itself, and not an encoding. */
  readonly isPlain: boolean;
  /** Length of the prefix that every secret of the harness has. Finding only the prefix reveals nothing. 0 for other secrets. */
  readonly prefixLength: number;
}

/** Minimum length of a secret whose encodings are searched for. Encodings of shorter secrets are too short to be recognised. */
const minEncodedLength = 6;

/** Returns all forms of a secret: plain, unescaped, reversed, hexadecimal, and base64 at any offset in a longer text. */
export function encodingsOf({ name, value }: Secret): SecretEncoding[] {
  const prefixLength = value.startsWith(generatedPrefix) ? generatedPrefix.length : 0;
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

/**
 * Returns the forms that a secret gets when the text around it is unescaped. Unescaping also changes parts of a secret that look like
 * escapes.
 */
function unescapedEncodings(value: string): string[] {
  const once = unescapeOnce(value)?.text;
  if (once === undefined) return [];
  return [once, ...unescapedEncodings(once)];
}

/**
 * Returns the parts of a text's base64 that do not depend on the bytes around it. There are three: base64 encodes groups of three bytes,
 * and the text may begin at any byte of a group.
 */
function base64Encodings(text: Buffer): string[] {
  const encodings = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), text]);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  return [...encodings, ...encodings.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

/**
 * Returns the name that replaces a match.
 *
 * @param found the matched text, which equals the part of `text` from `at` on, apart from letter case
 */
export function nameOfMatch({ name, text, isPlain }: SecretEncoding, at: number, found: string): string {
  const isWhole = at === 0 && found.length === text.length;
  if (isWhole && (!isPlain || found === text)) return name;
  if (isPlain && at === 0 && found === text.slice(0, -1)) return name + cutOffMark;
  return name + partMark;
}
