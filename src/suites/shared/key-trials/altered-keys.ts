import { seededNumbers } from "../../../base/statistics/random.ts";
import type { RejectedKeyKind } from "../../../spec/dimensions.ts";

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const seed = 1;

/** Returns the prefix of a key: two letters and an underscore. `null` if the key has no prefix. */
export const prefixOf = (key: string): string | null => /^[A-Za-z]{2}_/.exec(key)?.[0] ?? null;

/** Returns a key that was never issued, with the prefix and length of a real key. It is the same in every run. */
export function neverIssuedKey(key: string): string {
  const prefix = prefixOf(key) ?? "";
  const random = seededNumbers(seed);
  const nextLetter = (): string => letters.charAt(Math.floor(random() * letters.length));
  return prefix + Array.from({ length: Math.max(8, key.length - prefix.length) }, nextLetter).join("");
}

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Returns a key with another last character, which differs in its highest bit: a base64 decoder may ignore others. */
export function replaceLastCharacter(key: string): string {
  const last = key.slice(-1);
  const at = base64.indexOf(last);
  const isHexadecimal = /^[0-9a-f]{8,}$/.test(key.slice(-16));
  if (isHexadecimal) return key.slice(0, -1) + ((Number.parseInt(last, 16) + 8) % 16).toString(16);
  return key.slice(0, -1) + (at < 0 ? "A" : (base64[(at + 32) % 64] ?? "A"));
}

/** The padding of a base64 text. Keys are changed before it, because some decoders ignore everything after it. */
const base64Padding = /=*$/;

export const truncated = (key: string): string => key.replace(base64Padding, "").slice(0, -1);

/** Returns a longer key. The added characters are valid in base64 and in hexadecimal. */
export const lengthenKey = (key: string): string => key.replace(base64Padding, (end) => `0a1b${end}`);

/**
 * Swaps the letter case of a key after its prefix. `null` unless its letters have one case (1) or both (2). A key of
 * one case may be hexadecimal, and a server may then ignore the case.
 */
export function swapLetterCase(key: string, cases: 1 | 2): string | null {
  const prefix = prefixOf(key) ?? "";
  const rest = key.slice(prefix.length);
  if (Number(/[a-z]/.test(rest)) + Number(/[A-Z]/.test(rest)) !== cases) return null;
  const swapped = Array.from(rest, (each) => (each === each.toLowerCase() ? each.toUpperCase() : each.toLowerCase()));
  return prefix + swapped.join("");
}

type AlteredKeyKind = Extract<
  RejectedKeyKind,
  | "a key with another last character"
  | "a key of one letter case in the other"
  | `a key ${"that is cut off" | "that is lengthened" | "in other letter case" | "under another scheme"}`
  | "a scheme without a key"
>;

const bearer = (key: string | null): string | null => (key === null ? null : `Bearer ${key}`);

/** Turns a valid key into a header that the server must reject. `null` if the key cannot be altered so. */
export const alteredAuthorizations: Readonly<Record<AlteredKeyKind, (key: string) => string | null>> = {
  "a key with another last character": (key) => `Bearer ${replaceLastCharacter(key)}`,
  "a key under another scheme": (key) => `Basic ${key}`,
  "a key that is cut off": (key) => `Bearer ${truncated(key)}`,
  "a key that is lengthened": (key) => `Bearer ${lengthenKey(key)}`,
  "a key in other letter case": (key) => bearer(swapLetterCase(key, 2)),
  "a key of one letter case in the other": (key) => bearer(swapLetterCase(key, 1)),
  "a scheme without a key": () => "Bearer",
};

export const alteredKeyKinds = Object.keys(alteredAuthorizations) as readonly AlteredKeyKind[];
