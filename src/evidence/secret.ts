interface UnescapedText {
  readonly text: string;
  /** For each UTF-16 unit of `text`, the index of this unit, or of its escape, in the original text. */
  readonly places: Uint32Array;
}

/** Matches invisible characters, and escapes of JSON, programming languages, URLs and HTML. */
const escapePattern =
  // oxlint-disable-next-line no-control-regex -- control characters may hide between the characters of a secret
  /\\(?:u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|x([0-9a-f]{2})|([^ux\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2060-\u2064\ufeff\ufffe\uffff]))|%(?:u([0-9a-f]{4})|([0-9a-f]{2}))|&(?:#x([0-9a-f]{1,6});?|#(\d{1,7});?|([a-z]{2,6});)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2060-\u2064\ufeff\ufffe\uffff]/gi;

const hasEscape = new RegExp(escapePattern.source, "i");

/** HTML entities of characters that a secret key may contain, by lower-case name. */
const namedEntities: Readonly<Record<string, string>> = {
  quot: '"',
  amp: "&",
  lt: "<",
  gt: ">",
  apos: "'",
  excl: "!",
  num: "#",
  dollar: "$",
  percnt: "%",
  lpar: "(",
  rpar: ")",
  ast: "*",
  midast: "*",
  plus: "+",
  comma: ",",
  period: ".",
  sol: "/",
  colon: ":",
  semi: ";",
  equals: "=",
  quest: "?",
  commat: "@",
  lsqb: "[",
  lbrack: "[",
  bsol: "\\",
  rsqb: "]",
  rbrack: "]",
  hat: "^",
  lowbar: "_",
  grave: "`",
  lcub: "{",
  lbrace: "{",
  vert: "|",
  verbar: "|",
  rcub: "}",
  rbrace: "}",
};

/** Undoes one layer of escapes in a text. Returns `null` if the text has no escapes. */
export function unescapeOnce(text: string): UnescapedText | null {
  if (!hasEscape.test(text)) return null;
  const pieces: string[] = [];
  const places = new Uint32Array(text.length + 1);
  let [from, length] = [0, 0];
  const add = (piece: string, at: number, step: 0 | 1): void => {
    for (let unit = 0; unit < piece.length; unit++) places[length + unit] = at + unit * step;
    pieces.push(piece);
    length += piece.length;
  };
  for (const found of text.matchAll(escapePattern)) {
    add(text.slice(from, found.index), from, 1);
    add(decodeEscape(found), found.index, 0);
    from = found.index + found[0].length;
  }
  add(text.slice(from), from, 1);
  places[length] = text.length;
  return { text: pieces.join(""), places: places.subarray(0, length + 1) };
}

function decodeEscape([whole, ...groups]: RegExpExecArray): string {
  const [u4, u, x2, plain, percentU, percent, htmlHex, htmlDecimal, name] = groups;
  const hex = u4 ?? u ?? x2 ?? percentU ?? percent ?? htmlHex;
  if (hex !== undefined) return characterOf(Number.parseInt(hex, 16));
  if (htmlDecimal !== undefined) return characterOf(Number(htmlDecimal));
  // For `\n`, returns `n` instead of a line break. A secret key can contain `n`, but no line break.
  if (plain !== undefined) return plain;
  if (name !== undefined) return namedEntities[name.toLowerCase()] ?? whole;
  return "";
}

const characterOf = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : "");

/** A secret value, and the name that replaces it in redacted texts. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Ending of the name in `[redacted NAME]` if the text contained the secret without its last character. */
export const cutOffMark = ", its last character cut off";

/** Ending of the name in `[redacted NAME]` if the text contained only a part of the secret, or an altered secret. */
export const partMark = ", in part or changed";

/** The prefix of every secret that the harness generates. The prefix alone does not count as a leak. */
const generatedSecretPrefix = "conformance-";

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

/** Minimum number of consecutive characters of a secret that count as a leak. */
export const minLeakLength = 8;

export interface SecretEncoding {
  readonly name: string;
  readonly text: string;
  readonly isPlain: boolean;
  readonly prefixLength: number;
}

/** Redaction searches for secrets shorter than this only as plain text: their encodings would match unrelated texts. */
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
 * Returns the forms that a secret can have inside a longer base64 or base64url text. The form depends on the secret's
 * byte offset modulo 3.
 */
function base64Encodings(text: Buffer): string[] {
  const encodings = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), text]);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
  return [...encodings, ...encodings.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

/**
 * Returns the name that replaces the text `found`, which is at index `at` of an encoded secret. If the text is not the
 * whole, unchanged secret, the name ends in `cutOffMark` or `partMark`.
 */
export function replacementName({ name, text, isPlain }: SecretEncoding, at: number, found: string): string {
  const isWhole = at === 0 && found.length === text.length;
  if (isWhole && (!isPlain || found === text)) return name;
  if (isPlain && at === 0 && found === text.slice(0, -1)) return name + cutOffMark;
  return name + partMark;
}
