import { describe, expect, it } from "vitest";

import { jsonIn, member } from "./json.ts";

describe("JSON", () => {
  it.each([
    ['{"a": [1]}', { a: [1] }],
    ["null", null],
    ["", undefined],
    ["{", undefined],
    ["\uFEFF1", undefined],
  ])("in %j is %j", (text, value) => {
    expect(jsonIn(text)).toEqual(value);
  });

  it("is followed into its own members only", () => {
    const value = { a: { b: 1 }, list: [1] };
    expect([member(value, "a", "b"), member(value, "a", "c", "d"), member(value, "toString")]).toEqual([
      1,
      undefined,
      undefined,
    ]);
    expect([member(null, "a"), member("text", "length")]).toEqual([undefined, undefined]);
  });
});
