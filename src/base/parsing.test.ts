import { describe, expect, it } from "vitest";
import { z } from "zod";

import { parseAs, parseJson } from "./parsing.ts";

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
      { kind: "problem", problem: "Unexpected token 'a' in line 1" },
    ]);
  });
});
