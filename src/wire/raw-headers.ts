import type { Header } from "../evidence/exchange.ts";

/** Reads undici's raw headers: a flat list of names and values, as strings or buffers. */
export function parseRawHeaders(raw: unknown): Header[] {
  const found: Header[] = [];
  if (!Array.isArray(raw)) return found;
  const parts: readonly unknown[] = raw;
  for (let at = 0; at + 1 < parts.length; at += 2) found.push([textOf(parts[at]), textOf(parts[at + 1])]);
  return found;
}

const textOf = (part: unknown): string => (Buffer.isBuffer(part) ? part.toString("utf8") : String(part));
