import type { Header } from "../../../evidence/exchange.ts";

/** Pairs of what a parser gives as names and values in turn. */
export const headersOf = (raw: readonly string[]): Header[] =>
  Array.from({ length: Math.floor(raw.length / 2) }, (_, at): Header => [raw[2 * at] ?? "", raw[2 * at + 1] ?? ""]);

/** Whether the sender ends the connection after this answer. */
export const closesConnection = (headers: readonly Header[]): boolean =>
  headers.some(([name, value]) => name.toLowerCase() === "connection" && /\bclose\b/i.test(value));
