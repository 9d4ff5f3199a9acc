import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";

import { type ShellPiece, shellQuote, shellWord } from "./shell-words.ts";

/** Returns the value that bash gives to a word. */
const read = (word: string, environment: NodeJS.ProcessEnv = {}): string =>
  execFileSync("bash", ["--norc", "-c", `printf %s ${word}`], {
    env: { PATH: process.env["PATH"], ...environment },
  }).toString();

const texts = [
  "",
  "plain",
  "=ls",
  "two words",
  "it's",
  'say "hi"',
  "$HOME `id` $(id) ${x}",
  "wow!! !1",
  "back\\slash \\n \\x41",
  "line\nfeed\r\nand\ttab",
  "\u001b]0;title\u0007\u001b[31mred",
  "Zürich 日本 🙂 'é'\n!",
  "\u202eevil\u200b\u{e0041}f",
  "ends in backslash\\",
  "-x",
  "~ * ? {a,b} # ; & |",
];

describe("a quoted word", () => {
  it.each(texts)("is read as it was: %j", (text) => {
    expect(read(shellQuote(text))).toBe(text);
  });

  it.each(texts)("holds nothing that a terminal acts upon: %j", (text) => {
    // oxlint-disable-next-line no-control-regex
    expect(shellQuote(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b\u202e]/);
  });

  it.each(texts)("keeps `!` from the history of an interactive shell: %j", (text) => {
    const inner = shellQuote(text).replace(/^'[\s\S]*'$|^[^'"]*$/, "");
    expect(inner).not.toContain("!");
  });
});

describe("a word with variables", () => {
  const key: ShellPiece = { kind: "variable", name: "KEY", withoutLast: false };
  const short: ShellPiece = { kind: "variable", name: "KEY", withoutLast: true };
  const text = (each: string): ShellPiece => ({ kind: "text", text: each });

  it.each([
    {
      pieces: [text("Authorization: Bearer "), key],
      word: '"Authorization: Bearer $KEY"',
      value: "Authorization: Bearer a b'",
    },
    { pieces: [text("Bearer "), short, text("X")], word: '"Bearer ${KEY%?}X"', value: "Bearer a bX" },
    { pieces: [key, text("s")], word: '"${KEY}s"', value: "a b's" },
    { pieces: [key, text("[0]:")], word: '"${KEY}[0]:"', value: "a b'[0]:" },
    { pieces: [text('{"k":"'), key, text('!"}')], word: `'{"k":"'"$KEY"'!"}'`, value: `{"k":"a b'!"}` },
    { pieces: [text("\n"), key], word: `$'\\n'"$KEY"`, value: "\na b'" },
  ])("$word", ({ pieces, word, value }) => {
    expect(shellWord(pieces)).toBe(word);
    expect(read(word, { KEY: "a b'" })).toBe(value);
  });
});
