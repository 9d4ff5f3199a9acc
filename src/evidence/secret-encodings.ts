import { cutMark, generatedPrefix, partMark, type Secret } from "./secret.ts";
import { unescapeOnce } from "./unescaping.ts";

/** This many consecutive characters of a secret count as a leak. */
export const minLeakLength = 8;

/** A form in which a secret may occur in an unescaped text. */
export interface SecretEncoding {
  readonly name: string;
  readonly text: string;
  /** Whether this is the secret itself, not an encoding of it. */
  readonly isPlain: boolean;
  /** Length of a prefix that other texts contain too. */
  readonly prefixLength: number;
}

/** Secrets below this length are searched only as they are: their encodings are too short to be recognised. */
const minEncodedLength = 6;

/**
 * All encodings of a secret: plain, unescaped, reversed, in hexadecimal, and in base64 at any offset of a longer text.
 */
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

/** A secret may contain what looks like an escape, and is then changed when the text around it is unescaped. */
function unescapedEncodings(value: string): string[] {
  const once = unescapeOnce(value)?.text;
  if (once === undefined) return [];
  return [once, ...unescapedEncodings(once)];
}

/**
 * The characters that the base64 of any longer text contains. A text can begin at three offsets in a group of four
 * characters.
 */
function base64Encodings(text: Buffer): string[] {
  const encodings = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), text]);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  return [...encodings, ...encodings.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** The replacement for a match. The match equals part of the form from `at`, except for letter case. */
export function nameOfMatch({ name, text, isPlain }: SecretEncoding, at: number, found: string): string {
  const isWhole = at === 0 && found.length === text.length;
  if (isWhole && (!isPlain || found === text)) return name;
  if (isPlain && at === 0 && found === text.slice(0, -1)) return name + cutMark;
  return name + partMark;
}
