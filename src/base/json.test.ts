import { describe, expect, it } from "vitest";

import { tryParseJson, getPath } from "./json.ts";

describe("JSON", () => {
  it.each([
    ['{"a": [1]}', { a: [1] }],
    ["null", null],
    ["", undefined],
    ["{", undefined],
    ["\uFEFF1", undefined],
  ])("in %j is %j", (text, value) => {
    expect(tryParseJson(text)).toEqual(value);
  });

  it("is followed into its own members only", () => {
    const value = { a: { b: 1 }, list: [1] };
    expect([getPath(value, "a", "b"), getPath(value, "a", "c", "d"), getPath(value, "toString")]).toEqual([
      1,
      undefined,
      undefined,
    ]);
    expect([getPath(null, "a"), getPath("text", "length")]).toEqual([undefined, undefined]);
  });
});
