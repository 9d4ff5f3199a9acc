import { describe, expect, it } from "vitest";
import { z } from "zod";

import { parseAs, parseJson, parseHandwrittenJson } from "./parsing.ts";

const schema = z.object({ keys: z.array(z.object({ name: z.string() })) });

describe("a value against a schema", () => {
  it("is the schema's", () => {
    expect(parseAs({ keys: [{ name: "a", more: 1 }] }, schema)).toEqual({
      kind: "value",
      value: { keys: [{ name: "a" }] },
    });
  });

  it.each([
    [{ keys: [{ name: 1 }] }, /^keys\.0\.name: .*string/],
    [null, /^the file: .*object/],
  ])("is told with the place of %j", (value, problem) => {
    expect(parseAs(value, schema)).toEqual({ kind: "problem", problem: expect.stringMatching(problem) as string });
  });
});

describe("a text as JSON", () => {
  it("is told with what is wrong with it, on one harmless line", () => {
    expect(parseJson("\uFEFF[1]")).toEqual({ kind: "value", value: [1] });
    expect(parseJson("{\n\u001b[31m")).toEqual({
      kind: "problem",
      problem: expect.stringMatching(/^\P{Cc}+$/u) as string,
    });
  });

  it("is told by its line, without what stands around the fault", () => {
    const [first, second] = ['{"keys": {"main":\n{"key": "ah_9kQ2vXt41mW5zLp7"}},}', "ah_9kQ2vXt41mW5zLp7"];
    expect([first, second].map((text) => parseJson(text))).toEqual([
      { kind: "problem", problem: expect.not.stringContaining("ah_9kQ") as string },
      { kind: "problem", problem: "is not JSON: Unexpected token 'a' in line 1" },
    ]);
  });
});

describe("a file that a person wrote", () => {
  const problemOf = (text: string): string | null => {
    const parsed = parseHandwrittenJson(text);
    return parsed.kind === "problem" ? parsed.problem : null;
  };

  it.each([
    ['{"a": 1, "a": 2}', 'has a duplicate name "a" in line 1, column 10'],
    ['{\n  "a": {"b": [{"c": 1}, {"c": 2, "\\u0063": 3}]}\n}', 'has a duplicate name "\\u0063" in line 2, column 34'],
    ['{"a": {"__proto__": 1}}', 'has the name "__proto__", which cannot be used, in line 1, column 8'],
    ['{"\\u005f_proto__": 1}', 'has the name "__proto__", which cannot be used, in line 1, column 2'],
    ["[".repeat(201) + "]".repeat(201), "is nested deeper than 200 levels in line 1, column 201"],
  ])("is refused where one of its values would be lost: %j", (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  it.each([
    '{"a": {"a": ["a", "a", {"a": "a"}]}, "b": {"a": "\\"a\\": {[,"}}',
    '{"A": 1, "a": 2, "": 3, "proto": "__proto__"}',
    "[".repeat(200) + "]".repeat(200),
  ])("may say the same in two places: %j", (text) => {
    expect(problemOf(text)).toBeNull();
  });

  it("is stricter than a file that the harness wrote", () => {
    expect(parseJson(`{"a": 1, "a": ${"[".repeat(900)}${"]".repeat(900)}}`).kind).toBe("value");
    expect(parseJson("[".repeat(20_000) + "]".repeat(20_000)).kind).toBe("problem");
  });
});
