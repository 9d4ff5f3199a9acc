import { describe, expect, it } from "vitest";

import { readBaseUrl } from "./base-url.ts";
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
