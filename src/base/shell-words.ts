/** Quotes a text so that an interactive bash or zsh reads it as one word and expands nothing in it. */
export function shellQuote(text: string): string {
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text)) return text;
  if (!needsEscapes.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${text.replace(/[\\'!]/g, bytesOf).replace(allToEscape, bytesOf)}'`;
}

/** Builds one shell word from texts and variables, such as `"Authorization: Bearer $KEY"`. */
export function shellWord(pieces: readonly ShellPiece[]): string {
  if (!pieces.some((piece) => piece.kind === "variable")) return shellQuote(pieces.map(textOf).join(""));
  const isPlain = pieces.every((piece) => plainInDoubleQuotes.test(textOf(piece)));
  return isPlain
    ? `"${pieces.map(inDoubleQuotes).join("")}"`
    : quoted(pieces.filter((piece) => textOf(piece) !== "" || piece.kind === "variable"));
}

const textOf = (piece: ShellPiece): string => (piece.kind === "text" ? piece.text : "");

export type ShellPiece =
  | { readonly kind: "text"; readonly text: string }
  /** A shell variable. `withoutLast` drops the last character of its value: `${KEY%?}`. */
  | { readonly kind: "variable"; readonly name: string; readonly withoutLast: boolean };

const quoted = (pieces: readonly ShellPiece[]): string =>
  pieces.map((piece) => (piece.kind === "text" ? shellQuote(piece.text) : `"${expansion(piece, "")}"`)).join("");

/** Matches texts that need no escapes inside double quotes, in any shell. */
const plainInDoubleQuotes = /^[\w@%+=:,./ ()[\]{}<>|&;*?#~^-]*$/;

function inDoubleQuotes(piece: ShellPiece, index: number, all: readonly ShellPiece[]): string {
  if (piece.kind === "text") return piece.text;
  const next = all[index + 1];
  return expansion(piece, next?.kind === "text" ? next.text : "");
}

/**
 * Formats a shell variable for use inside double quotes. Adds braces if the shell would read the start of `after` as
 * part of the variable: `${KEY}_2`, or in zsh `${KEY}[1]`.
 */
const expansion = (piece: Extract<ShellPiece, { kind: "variable" }>, after: string): string =>
  piece.withoutLast ? `\${${piece.name}%?}` : /^[\w[:]/.test(after) ? `\${${piece.name}}` : `$${piece.name}`;

const needsEscapes = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const allToEscape = new RegExp(needsEscapes.source, "gu");

/** Escapes each UTF-8 byte of a text, e.g. `\xc2\xad`. A code point (`\u00ad`) would depend on the shell's locale. */
const bytesOf = (text: string): string => {
  if (text === "\n") return String.raw`\n`;
  return [...Buffer.from(text, "utf8")].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
};
