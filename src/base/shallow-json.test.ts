import { describe, expect, it } from "vitest";

import { shallowJsonIn } from "./shallow-json.ts";

describe("JSON that somebody sent", () => {
  const nested = (depth: number): string => `${"[".repeat(depth)}1${"]".repeat(depth)}`;
  const padding = " ".repeat(20_000);

  it.each([
    ["short and deep", nested(500)],
    ["long, and as deep as fields are", `{"a":[{"b":{"__proto__":1}}]}${padding}`],
    ["long and no JSON", `{${padding}`],
  ])("is what it says where it is %s", (_, text) => {
    const parsed = ((): unknown => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return undefined;
      }
    })();
    expect(JSON.stringify(shallowJsonIn(text))).toBe(JSON.stringify(parsed));
  });

  it("ends at a depth where no field is, if it is long", () => {
    expect(JSON.stringify(shallowJsonIn(nested(20_000)))).toBe(nested(100).replace("1", "null"));
  });
});
