export interface UnescapedText {
  readonly text: string;
  /** For each UTF-16 unit of `text`, its index in the original text. */
  readonly places: Uint32Array;
}

/** Matches invisible characters, and escapes of JSON, programming languages, URLs and HTML. */
const escapePattern =
  // oxlint-disable-next-line no-control-regex -- what hides between the characters of a text is looked for
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

/** Undoes one layer of escapes. Returns `null` if the text has none. */
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
