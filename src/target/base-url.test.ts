import { describe, expect, it } from "vitest";

import { belowBaseUrl, readBaseUrl } from "./base-url.ts";
import { UsageError } from "../base/line.ts";

describe("a base URL", () => {
  it.each([
    ["https://api.example.com/v1", "https://api.example.com/v1"],
    ["https://api.example.com/v1/", "https://api.example.com/v1"],
    ["https://api.example.com", "https://api.example.com/v1"],
    ["https://api.example.com/", "https://api.example.com/v1"],
    ["https://api.example.com//", "https://api.example.com/v1"],
    ["https://api.example.com/agents", "https://api.example.com/agents/v1"],
    ["https://api.example.com/agents/v1///", "https://api.example.com/agents/v1"],
    ["http://127.0.0.1:8787", "http://127.0.0.1:8787/v1"],
    ["http://[::1]:8787/v1", "http://[::1]:8787/v1"],
    ["HTTPS://API.Example.com:443/v1", "https://api.example.com/v1"],
    ["https://api.example.com/v10", "https://api.example.com/v10/v1"],
  ])("%s is used as %s", (given, used) => {
    expect(readBaseUrl(given)).toBe(used);
  });

  it.each([
    ["", /is not a URL/],
    ["/v1", /is not a URL/],
    ["localhost:8080", /neither http nor https/],
    ["file:///etc/passwd", /neither http nor https/],
    ["https://api.example.com/v1?key=1", /query or a fragment/],
    ["https://api.example.com/v1#top", /query or a fragment/],
    ["https://user@api.example.com", /user name or password/],
  ])("%j is refused", (given, expected) => {
    expect(() => readBaseUrl(given)).toThrow(UsageError);
    expect(() => readBaseUrl(given)).toThrow(expected);
  });

  it("does not repeat a password in the error", () => {
    expect(() => readBaseUrl("https://me:hunter2@api.example.com")).toThrow(/^(?!.*hunter2).*$/);
  });
});

describe("a URL lies below a base URL", () => {
  const base = "https://api.example.com/x/v1";
  it.each([
    ["the base URL itself", base, base],
    ["a path", `${base}/agents`, base],
    ["a query", `${base}?page=2`, base],
    ["a fragment", `${base}#top`, base],
    ["a base URL with a trailing slash", `${base}/agents`, `${base}/`],
    ["the base URL itself without its trailing slash", base, `${base}/`],
    ["an empty segment", `${base}//agents`, base],
    ["a base URL without a path", "https://api.example.com/agents", "https://api.example.com"],
    ["scheme and host in upper case", "HTTPS://API.Example.COM/x/v1/agents", base],
    ["the default port", "https://api.example.com:443/x/v1/agents", base],
    ["the default port in the base URL", "http://127.0.0.1/v1/agents", "http://127.0.0.1:80/v1"],
    ["dot segments that end below", "https://api.example.com/y/../x/./v1/agents", base],
    ["encoded dot segments that end below", "https://api.example.com/y/%2e%2E/x/v1/agents", base],
    ["escapes of letters and digits", "https://api.example.com/%78/v%31/agents", base],
    ["an escape in another case", "https://api.example.com/a%c3%a9/v1/agents", "https://api.example.com/a%C3%A9/v1"],
    ["a letter that is escaped in the base URL", "https://api.example.com/é/v1", "https://api.example.com/%c3%a9/v1"],
    ["user and password", "https://me:secret@api.example.com/x/v1/agents", base],
  ])("with %s", (_, url, baseUrl) => {
    expect(belowBaseUrl(baseUrl)(url)).toBe(true);
  });

  it.each([
    ["a longer last segment", `${base}0/agents`, base],
    ["a shorter path", "https://api.example.com/x", base],
    ["another path", "https://api.example.com/y/v1/agents", base],
    ["a path in another case", "https://api.example.com/X/v1/agents", base],
    ["dot segments that leave it", `${base}/../agents`, base],
    ["encoded dot segments that leave it", `${base}/%2e%2e/agents`, base],
    ["an escaped slash", "https://api.example.com/x%2Fv1/agents", base],
    ["the base URL in the query", "https://example.org/?https://api.example.com/x/v1", base],
    ["another host", "https://api.example.com.example.org/x/v1/agents", base],
    ["another port", "https://api.example.com:8443/x/v1/agents", base],
    ["another scheme", "http://api.example.com/x/v1/agents", base],
    ["no URL", "/x/v1/agents", base],
  ])("not with %s", (_, url, baseUrl) => {
    expect(belowBaseUrl(baseUrl)(url)).toBe(false);
  });
});
