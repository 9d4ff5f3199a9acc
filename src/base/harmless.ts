/**
 * Text that a target may have written, made safe to show: control characters, ANSI escapes, bidirectional overrides,
 * invisible characters and lone surrogates become visible escapes (`\x1b`, `\u{202e}`). Line feeds and tabs stay.
 */
export const harmless = (text: string): string =>
  text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, escaped);

/** The same on one line, at most `most` characters long, with a mark where it was cut. */
export function harmlessLine(text: string, most = 300): string {
  const line = harmless(
    cutAt(text, most * 2)
      .replace(/\s+/g, " ")
      .trim(),
  );
  return line.length <= most ? line : `${cutAt(line, most - 1)}…`;
}

/** The first `most` UTF-16 units, without half of a surrogate pair at the end. */
export function cutAt(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}

/** The last `most` UTF-16 units, without half of a surrogate pair at the start. */
export function lastOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const first = text.charCodeAt(text.length - most);
  return text.slice(text.length - (first >= 0xdc00 && first <= 0xdfff ? most - 1 : most));
}

function escaped(character: string): string {
  if (character === "\r") return "\\r";
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}
