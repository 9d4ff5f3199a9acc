import { describe, expect, it } from "vitest";

import { globMatcher } from "./text.ts";

describe("a glob", () => {
  it.each([
    ["SSE-5", "sse-5", true],
    ["SSE-5", "SSE-55", false],
    ["SSE-*", "SSE-12", true],
    ["*-1", "SSE-1", true],
    ["a.c", "abc", false],
    ["*", "", true],
    ["a**c", "abbc", true],
    ["", "a", false],
  ])("%j of %j: %s", (pattern, name, isMatch) => {
    expect(globMatcher(pattern)(name)).toBe(isMatch);
  });
});
