import { describe, expect, it, vi } from "vitest";

import { parseBoundedJson } from "./parsing.ts";

describe("JSON from outside", () => {
  const nested = (depth: number): string => `${"[".repeat(depth)}1${"]".repeat(depth)}`;
  const padding = " ".repeat(20_000);

  it.each([
    ["short and deep", nested(500)],
    ["long, and as deep as fields are", `{"a":[{"b":{"__proto__":1}}]}${padding}`],
    ["long and no JSON", `{${padding}`],
    ["long, with brackets and escapes in its texts", `["]\\\\", "[[\\"{", {"}": "\\\\\\"["}]${padding}`],
    ["long, with brackets that are no pairs", `[{]}${padding}`],
    ["long, with a text that does not end", `["]${padding}`],
    ["long and closed too often", `[]]${padding}`],
  ])("is what it says where it is %s", (_, text) => {
    const parsed = ((): unknown => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return undefined;
      }
    })();
    expect(JSON.stringify(parseBoundedJson(text))).toBe(JSON.stringify(parsed));
  });

  it("ends at a depth where no field is, if it is long", () => {
    expect(JSON.stringify(parseBoundedJson(nested(20_000)))).toBe(nested(100).replace("1", "null"));
  });

  it("goes on after what was too deep", () => {
    expect(parseBoundedJson(`{"deep":{"er":${nested(20_000)}},"next":"]"}`)).toMatchObject({ next: "]" });
  });

  it("has no parser build what is too deep, which would take a hundred times its memory", () => {
    const parse = vi.spyOn(JSON, "parse");
    parseBoundedJson(nested(20_000));
    parseBoundedJson("[".repeat(20_000));
    expect(parse.mock.calls.map(([text]) => text.length)).toEqual([nested(100).replace("1", "null").length]);
    parse.mockRestore();
  });
});
