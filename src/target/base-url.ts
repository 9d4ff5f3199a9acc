import { UsageError } from "../base/usage-error.ts";
import { line } from "../base/line.ts";

/**
 * Normalizes a base URL: removes a trailing slash, and adds `/v1` if it is missing. Source: the interface document,
 * "What the service does", item 2.
 *
 * @throws {UsageError} if the text is no http or https URL, or contains credentials, a query or a fragment
 */
export function readBaseUrl(text: string): string {
  const problem = (fact: string): UsageError =>
    new UsageError(line`${fact}: ${JSON.stringify(withoutSecrets(text))}. Give it like https://api.example.com/v1.`);
  if (!URL.canParse(text)) throw problem("The base URL is not a URL");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw problem("The base URL is neither http nor https");
  if (url.username !== "" || url.password !== "") throw problem("The base URL must not carry a user name or password");
  if (url.search !== "" || url.hash !== "") throw problem("The base URL must not carry a query or a fragment");
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/v1") ? path : `${path}/v1`}`;
}

export { isLoopback } from "../base/network/network.ts";

/** Returns a URL without credentials, query and fragment, each of which may contain a key. */
const withoutSecrets = (text: string): string => text.replace(/\/\/[^/@]*@/g, "//…@").replace(/([?#]).+/s, "$1…");
