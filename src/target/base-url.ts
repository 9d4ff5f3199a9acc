import { UsageError } from "../base/usage-error.ts";

/**
 * The base address in the form the harness uses: ending in `/v1`, without a trailing slash. The segment is added where it is
 * missing and never doubled (What the service does, 2).
 *
 * @throws {UsageError} where the text is no http(s) address, or carries credentials, a query or a fragment.
 */
export function readBaseUrl(text: string): string {
  const problem = (fact: string): UsageError =>
    new UsageError(`${fact}: ${JSON.stringify(withoutCredentials(text))}. Give it like https://api.example.com/v1.`);
  if (!URL.canParse(text)) throw problem("The base URL is not a URL");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw problem("The base URL is neither http nor https");
  if (url.username !== "" || url.password !== "") throw problem("The base URL must not carry a user name or password");
  if (url.search !== "" || url.hash !== "") throw problem("The base URL must not carry a query or a fragment");
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/v1") ? path : `${path}/v1`}`;
}

export { isLoopback } from "../base/network/network.ts";

const withoutCredentials = (text: string): string => text.replace(/\/\/[^/@]*@/, "//…@");
