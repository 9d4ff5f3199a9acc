import { tryParseJson } from "./json.ts";
import { endOfString } from "./json-structure.ts";

const minLongTextChars = 16 * 1024;
const maxDepth = 100;

/**
 * Parses a text from outside as JSON. Returns `undefined` if the text is not JSON. In a text of more than 16 KiB,
 * values below 100 levels become `null`, because nested brackets take a hundred times the memory of their text.
 */
export function parseBoundedJson(text: string): unknown {
  const shallow = text.length > minLongTextChars ? cutDeepValues(text) : text;
  return shallow === null ? undefined : tryParseJson(shallow);
}

const quote = 0x22;
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d]);
/** Difference between the character codes of an opening bracket and its closing one. */
const toClosing = 2;

/**
 * Replaces values below 100 levels by the text `null`. Returns `null` if the brackets do not match, so that the text is
 * not JSON.
 */
function cutDeepValues(text: string): string | null {
  const awaited: number[] = [];
  let [left, from] = ["", 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (opening.has(code)) {
      if (awaited.length === maxDepth) left += `${text.slice(from, at)}null`;
      awaited.push(code + toClosing);
    } else if (closing.has(code)) {
      if (awaited.pop() !== code) return null;
      if (awaited.length === maxDepth) from = at + 1;
    }
  }
  return awaited.length === 0 ? left + text.slice(from) : null;
}
