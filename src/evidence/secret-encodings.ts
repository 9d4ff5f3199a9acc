import { cutMark, generatedPrefix, partMark, type Secret } from "./secret.ts";
import { unescapeOnce } from "./unescaping.ts";

/** So many characters in a row give a secret away. */
export const minLeakLength = 8;

/** A secret as it may stand in a text, once the text's escapes are undone. */
export interface SecretEncoding {
  readonly name: string;
  readonly text: string;
  /** As it is, and not in another writing. */
  readonly isPlain: boolean;
  /** So much of its beginning stands in other texts as well. */
  readonly opening: number;
}

/** Secrets below this length mean something else in most places, and their other writings are too short to tell. */
const shortestWritten = 6;

/** All forms of a secret: as it is, with escapes of its own undone, reversed, in hexadecimal, and in base64 wherever it begins in a longer text. */
export function encodingsOf({ name, value }: Secret): SecretEncoding[] {
  const opening = value.startsWith(generatedPrefix) ? generatedPrefix.length : 0;
  const plain: SecretEncoding = { name, text: value, isPlain: true, opening };
  if (value.length < shortestWritten) return [plain];
  const bytes = Buffer.from(value, "utf8");
  const others = new Set([
    ...unescapedForms(value),
    ...(bytes.length === value.length ? [] : [bytes.toString("latin1")]),
    bytes.toString("hex"),
    ...base64Forms(bytes),
    ...(opening > 0 ? [] : [Array.from(value).toReversed().join("")]),
  ]);
  others.delete(value);
  return [
    plain,
    ...[...others]
      .filter((text) => text.length >= minLeakLength)
      .map((text) => ({ name, text, isPlain: false, opening: 0 })),
  ];
}

/** A key may hold what looks like an escape, and is undone with those of the text around it. */
function unescapedForms(value: string): string[] {
  const once = unescapeOnce(value)?.text;
  if (once === undefined) return [];
  return [once, ...unescapedForms(once)];
}

/** What stays of a text in the base64 of any longer one: it can begin at three places in a group of four characters. */
function base64Forms(text: Buffer): string[] {
  const forms = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), text]);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  return [...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** What is to stand in the place of a found text, which is the same as `length` characters of the form from `at` on but for letter case. */
export function nameOfMatch({ name, text, isPlain }: SecretEncoding, at: number, found: string): string {
  const isWhole = at === 0 && found.length === text.length;
  if (isWhole && (!isPlain || found === text)) return name;
  if (isPlain && at === 0 && found === text.slice(0, -1)) return name + cutMark;
  return name + partMark;
}
