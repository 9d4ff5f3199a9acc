import { seededNumbers } from "../../../base/statistics/random.ts";
import type { RejectedKeyKind } from "../../../spec/rejected-key-kinds.ts";

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const seed = 1;

/** Returns the prefix of a key: two letters and an underscore, which are not secret. `null` without one. */
export const prefixOf = (key: string): string | null => /^[A-Za-z]{2}_/.exec(key)?.[0] ?? null;

/**
 * Makes a key that was never issued, with the prefix and the length of a real key. The other letters are the same in
 * every run.
 */
export function neverIssuedKey(key: string): string {
  const prefix = prefixOf(key) ?? "";
  const random = seededNumbers(seed);
  const nextLetter = (): string => letters.charAt(Math.floor(random() * letters.length));
  return prefix + Array.from({ length: Math.max(8, key.length - prefix.length) }, nextLetter).join("");
}

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * Replaces the last character by one that differs in its highest bit, because a base64 decoder may ignore the low bits.
 */
export function withOtherLastCharacter(key: string): string {
  const last = key.slice(-1);
  const at = base64.indexOf(last);
  const isHexadecimal = /^[0-9a-f]{8,}$/.test(key.slice(-16));
  if (isHexadecimal) return key.slice(0, -1) + ((Number.parseInt(last, 16) + 8) % 16).toString(16);
  return key.slice(0, -1) + (at < 0 ? "A" : (base64[(at + 32) % 64] ?? "A"));
}

/** Matches base64 padding. Keys are altered before the padding, because some decoders ignore everything after it. */
const padding = /=*$/;

export const truncated = (key: string): string => key.replace(padding, "").slice(0, -1);

/** Makes a key longer by characters that are valid in base64 and in hexadecimal. */
export const lengthened = (key: string): string => key.replace(padding, (end) => `0a1b${end}`);

/**
 * Swaps upper and lower case after a key's prefix. `cases` is the number of cases that the key's letters must have; for
 * any other key, returns `null`.
 *
 * A key with letters of one case may be hexadecimal, and a server may then ignore the case.
 */
export function withSwappedCase(key: string, cases: 1 | 2): string | null {
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

/**
 * Makes `Authorization` headers from a valid key that the server must reject. Returns `null` if the key cannot be
 * altered in that way.
 */
export const alteredAuthorization: Readonly<Record<AlteredKeyKind, (key: string) => string | null>> = {
  "a key with another last character": (key) => `Bearer ${withOtherLastCharacter(key)}`,
  "a key under another scheme": (key) => `Basic ${key}`,
  "a key that is cut off": (key) => `Bearer ${truncated(key)}`,
  "a key that is lengthened": (key) => `Bearer ${lengthened(key)}`,
  "a key in other letter case": (key) => bearer(withSwappedCase(key, 2)),
  "a key of one letter case in the other": (key) => bearer(withSwappedCase(key, 1)),
  "a scheme without a key": () => "Bearer",
};

export const alteredKeyKinds = Object.keys(alteredAuthorization) as readonly AlteredKeyKind[];
