import { describe, expect, it } from "vitest";

import { hiddenKey, hideKeys, joinLines, line } from "./line.ts";

describe("a line for people", () => {
  it.each([
    ["a\u001b[31mb", "a\\x1b[31mb"],
    ["a\nb\tc\rd", "a\\nb\\tc\\rd"],
    ["\u202eabc\u2069", "\\u{202e}abc\\u{2069}"],
    ["\u009b2J", "\\x9b2J"],
    ["a\u200bb\u200e\u061c", "a\\u{200b}b\\u{200e}\\u{61c}"],
    ["ünïcode 漢字", "ünïcode 漢字"],
  ])("shows what a part from outside hides: %j", (given, shown) => {
    expect(line`The file ${given} is not there.`).toBe(`The file ${shown} is not there.`);
  });

  it("bounds a part from outside, and keeps what follows", () => {
    expect(line`${"x".repeat(5000)} ends`).toMatch(/^x{2000}… ends$/);
  });

  it("is joined with others", () => {
    expect(joinLines([line`a ${1}`, line`b`], "\n")).toBe("a 1\nb");
  });
});

describe("a value that looks like a key", () => {
  it.each([
    "sk_live_aaaabbbbccccdddd",
    "ah_free_4mJ9sQ2vXk7TtB1nLw6Yc3Re",
    "pk_abc123",
    "AH_Free_4mJ9",
    "sk-proj-4mJ9sQ2vXk7TtB1nLw6Yc3Re",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "4mJ9sQ2vXk7TtB1nLw6Yc3Re",
  ])("is hidden wherever it is typed: %s", (key) => {
    for (const text of [key, `"${key}"`, `'${key}'`, `--flag=${key}`, `--${key}`, `a: ${key}, b`, `https://${key}@h/`])
      expect(hideKeys(text)).not.toContain(key);
    expect(line`--base-url is ${key}.`).toBe(`--base-url is ${hiddenKey}.`);
  });

  it("is hidden in a path, a query and a header", () => {
    const key = "sk_live_aaaabbbbccccdddd";
    for (const text of [`/home/me/${key}`, `https://h/v1?key=${key}`, `https://h/${key}/v1`, `Bearer ${key}`])
      expect(hideKeys(text)).not.toContain(key);
    expect(hideKeys("Authorization: Bearer abc")).toBe(`Authorization: Bearer ${hiddenKey}`);
  });

  it.each([
    "acme.json",
    "ci_acceptance.json",
    "/tmp/my_acceptance_tests/reports/2026-11-23T08-00-00-000Z-embedded/report.json",
    "https://staging-2.example.com/v1",
    "http://127.0.0.1:35527/v1/agents/echo/invoke",
    "SSE-5, HOOK-26@free",
    "$MY_STAGING_API_KEY takes",
    "missing-query-other-code",
    "3f0c9a52-9d7e-4c1b-8f7a-2b1d6e5f4a3c",
    'agent_id, deployment_id, the file has "agent"',
    "X-RateLimit-Reset-After",
    "lower_case_with_many_words",
  ])("is not a name: %s", (text) => {
    expect(hideKeys(text)).toBe(text);
  });
});
