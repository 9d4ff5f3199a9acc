import { seededNumbers } from "../../../base/statistics/random.ts";
import type { RejectedKeyKind } from "../../../spec/rejected-key-kinds.ts";

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const sameInEveryRun = 1;

/** The service's public prefix of a key, two letters and an underscore; `null` where it starts otherwise. */
export const prefixOf = (key: string): string | null => /^[A-Za-z]{2}_/.exec(key)?.[0] ?? null;

/** A key that was never issued: as long as the real one, with the service's public prefix, and otherwise the same letters in every run. */
export function neverIssuedKey(key: string): string {
  const prefix = prefixOf(key) ?? "";
  const numbers = seededNumbers(sameInEveryRun);
  const next = (): string => letters.charAt(Math.floor(numbers() * letters.length));
  return prefix + Array.from({ length: Math.max(8, key.length - prefix.length) }, next).join("");
}

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The key with another last character, which differs also where the key is base64 and the low bits of that character mean nothing. */
export function withOtherLastCharacter(key: string): string {
  const last = key.slice(-1);
  const at = base64.indexOf(last);
  const isHexadecimal = /^[0-9a-f]{8,}$/.test(key.slice(-16));
  if (isHexadecimal) return key.slice(0, -1) + ((Number.parseInt(last, 16) + 8) % 16).toString(16);
  return key.slice(0, -1) + (at < 0 ? "A" : (base64[(at + 32) % 64] ?? "A"));
}

/** Padding of base64, after which some decoders look at nothing. */
const padding = /=*$/;

export const truncated = (key: string): string => key.replace(padding, "").slice(0, -1);

/** Longer by what means something in base64 and in hexadecimal. */
export const lengthened = (key: string): string => key.replace(padding, (end) => `0a1b${end}`);

/** Upper for lower case and back; `null` where the key's letters are all of one case, which may then mean nothing. */
export function withSwappedCase(key: string): string | null {
  const prefix = prefixOf(key) ?? "";
  const rest = key.slice(prefix.length);
  if (!/[a-z]/.test(rest) || !/[A-Z]/.test(rest)) return null;
  const turned = Array.from(rest, (each) => (each === each.toLowerCase() ? each.toUpperCase() : each.toLowerCase()));
  return prefix + turned.join("");
}

/** Kinds that are made of a good key, and that are not it. */
type Spoilt = Extract<
  RejectedKeyKind,
  | `a key ${"that is cut off" | "that is lengthened" | "in other letter case" | "under another scheme"}`
  | "a scheme without a key"
>;

/** `Authorization` headers that are made of a good key, and ought not to let in; `null` where the key allows none of that kind. */
export const alteredAuthorization: Readonly<Record<Spoilt, (key: string) => string | null>> = {
  "a key under another scheme": (key) => `Basic ${key}`,
  "a key that is cut off": (key) => `Bearer ${truncated(key)}`,
  "a key that is lengthened": (key) => `Bearer ${lengthened(key)}`,
  "a key in other letter case": (key) => {
    const other = withSwappedCase(key);
    return other === null ? null : `Bearer ${other}`;
  },
  "a scheme without a key": () => "Bearer",
};

export const alteredKeyKinds = Object.keys(alteredAuthorization) as readonly Spoilt[];
