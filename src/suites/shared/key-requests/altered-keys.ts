import type { RejectedKeyKind } from "../../../spec/dimensions.ts";
import { seededRandom } from "../../../base/numbers.ts";

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** Matches the `=` at the end of a base64 key. Keys are altered before it: some decoders ignore what follows it. */
const base64Padding = /=*$/;

const seed = 1;

export const prefixOf = (key: string): string | null => /^[A-Za-z]{2}_/.exec(key)?.[0] ?? null;

/** Returns an invalid key with the prefix and length of a real key, but at least 8 letters. The same in every run. */
export function neverIssuedKey(key: string): string {
  const prefix = prefixOf(key) ?? "";
  const random = seededRandom(seed);
  const nextLetter = (): string => letters.charAt(Math.floor(random() * letters.length));
  return prefix + Array.from({ length: Math.max(8, key.length - prefix.length) }, nextLetter).join("");
}

/**
 * Replaces the last character of a key. If it is a hexadecimal or base64 digit, its highest bit changes, because base64
 * decoders can ignore the lower bits of the last digit.
 */
export function replaceLastCharacter(key: string): string {
  const last = key.slice(-1);
  const at = base64Alphabet.indexOf(last);
  const isHexadecimal = /^[0-9a-f]{8,}$/.test(key.slice(-16));
  if (isHexadecimal) return key.slice(0, -1) + ((Number.parseInt(last, 16) + 8) % 16).toString(16);
  return key.slice(0, -1) + (at < 0 ? "A" : (base64Alphabet[(at + 32) % 64] ?? "A"));
}

export const truncateKey = (key: string): string => key.replace(base64Padding, "").slice(0, -1);

/** Lengthens a key by `0a1b`, before any `=`. These characters are valid in base64 and in hexadecimal. */
export const lengthenKey = (key: string): string => key.replace(base64Padding, (end) => `0a1b${end}`);

/**
 * Swaps upper and lower case after a key's prefix. Returns `null` if the letters there do not have `caseCount` cases,
 * e.g. 2 in `aB1` and 1 in `ab1`.
 */
export function swapLetterCase(key: string, caseCount: 1 | 2): string | null {
  const prefix = prefixOf(key) ?? "";
  const rest = key.slice(prefix.length);
  if (Number(/[a-z]/.test(rest)) + Number(/[A-Z]/.test(rest)) !== caseCount) return null;
  const swapped = Array.from(rest, (each) => (each === each.toLowerCase() ? each.toUpperCase() : each.toLowerCase()));
  return prefix + swapped.join("");
}

const bearer = (key: string | null): string | null => (key === null ? null : `Bearer ${key}`);

/** Functions that return an invalid `Authorization` header for a valid key; `null` if the key cannot be altered. */
export const alteredAuthorizations = {
  "a key with another last character": (key) => `Bearer ${replaceLastCharacter(key)}`,
  "a key under another scheme": (key) => `Basic ${key}`,
  "a key that is cut off": (key) => `Bearer ${truncateKey(key)}`,
  "a key that is lengthened": (key) => `Bearer ${lengthenKey(key)}`,
  "a key in other letter case": (key) => bearer(swapLetterCase(key, 2)),
  "a key of one letter case in the other": (key) => bearer(swapLetterCase(key, 1)),
  "a scheme without a key": () => "Bearer",
} as const satisfies Readonly<Partial<Record<RejectedKeyKind, (key: string) => string | null>>>;

export const alteredKeyKinds = Object.keys(alteredAuthorizations) as readonly (keyof typeof alteredAuthorizations)[];
