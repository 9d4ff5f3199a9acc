import { line, UsageError } from "../base/line.ts";

/**
 * Reads a base URL from the user. Removes trailing slashes, and adds a missing `/v1` (interface document, "What the
 * service does", item 2).
 * @throws {UsageError} if the text is no http or https URL, or contains credentials, a query or a fragment
 */
export function readBaseUrl(text: string): string {
  const name = { what: "The base URL", example: "https://api.example.com/v1" };
  const url = readHttpUrl(text, name);
  if (url.search !== "" || url.hash !== "") throw problemOf(text, "must not carry a query or a fragment", name);
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/v1") ? path : `${path}/v1`}`;
}

interface UrlName {
  readonly what: string;
  readonly example: string;
}

/** Reads an http or https URL from the user. Throws a usage error for any other text, or if it contains credentials. */
export function readHttpUrl(text: string, name: UrlName): URL {
  const url = URL.parse(text);
  if (url === null) throw problemOf(text, "is not a URL", name);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw problemOf(text, "is neither http nor https", name);
  if (url.username !== "" || url.password !== "") throw problemOf(text, "must not carry a user name or password", name);
  return url;
}

const problemOf = (text: string, fact: string, { what, example }: UrlName): UsageError =>
  new UsageError(line`${what} ${fact}: ${JSON.stringify(withoutSecrets(text))}. Give it like ${example}.`);

/** Removes credentials, query and fragment from a URL, because they may contain a key. */
const withoutSecrets = (text: string): string => text.replace(/\/\/[^/@]*@/g, "//…@").replace(/([?#]).+/s, "$1…");

/**
 * Returns a test whether a URL lies at or below a base URL. Spellings that RFC 3986 (6.2.2 and 6.2.3) calls equivalent
 * count as equal.
 */
export function belowBaseUrl(baseUrl: string): (url: string) => boolean {
  const base = comparableAddress(baseUrl)?.replace(/\/+$/, "") ?? null;
  return (url) => {
    const address = comparableAddress(url);
    return address !== null && base !== null && `${address}/`.startsWith(`${base}/`);
  };
}

/** Returns origin and path of a URL, without needless escapes; `null` for a text that is no URL. */
function comparableAddress(text: string): string | null {
  const url = URL.parse(text);
  return url === null ? null : url.origin + url.pathname.replace(/%[0-9a-f]{2}/gi, normalizeEscape);
}

/** Decodes an escaped letter, digit, `-`, `.`, `_` or `~`, and writes other escapes in upper case. */
function normalizeEscape(escape: string): string {
  const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  return /^[\w.~-]$/.test(character) ? character : escape.toUpperCase();
}
