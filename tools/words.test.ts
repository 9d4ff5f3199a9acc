import { describe, expect, it } from "vitest";

// @ts-expect-error plain JavaScript, because the host's Node runs it.
import * as words from "./words.mjs";

const { vagueOpeningsIn, findingsIn, discouragedNamesIn } = words as {
  readonly vagueOpeningsIn: (file: string, text: string) => string[];
  readonly findingsIn: (root: string) => string[];
  readonly discouragedNamesIn: (file: string, text: string) => string[];
};

const root = new URL("..", import.meta.url).pathname;

describe("the check of words", () => {
  it.each([
    ["a constant", "const leastSeconds = 3;"],
    ["a member", "export interface Reply { readonly tell: string }"],
    ["a function", "function lookAround() {}"],
    ["a part of a name in capitals", "type StrangerKey = string;"],
  ])("reports a private word in the name of %s", (_, code) => {
    expect(discouragedNamesIn("src/a/b.ts", code)).toEqual([expect.stringContaining("instead of")]);
  });

  it("reports a private word in the name of a file", () => {
    expect(discouragedNamesIn("src/a/lack.ts", "")).toEqual([expect.stringContaining("src/a/lack.ts: the name lack")]);
  });

  it.each(["const lookup = new Map();", "// least\nconst min = 1;", 'say("told");', "const gateway = 1;"])(
    "accepts %j",
    (code) => {
      expect(discouragedNamesIn("src/a/b.ts", code)).toEqual([]);
    },
  );

  it.each([
    "/** What comes first. */",
    "// So many values are kept.",
    "/**\n * Of a key that is new.\n */",
    "// That is all.",
  ])("reports the comment %j, which begins with a clause", (text) => {
    expect(vagueOpeningsIn("src/a/b.ts", `${text}\nconst a = 1;\n`)).toHaveLength(1);
  });

  it.each(["/** The first value. */", "// Keeps the values.\n// So many lines are fine.", "const a = 1; // Of note."])(
    "accepts the comment %j",
    (text) => {
      expect(vagueOpeningsIn("src/a/b.ts", text)).toEqual([]);
    },
  );

  it("has nothing to report in this checkout", () => {
    expect(findingsIn(root)).toEqual([]);
  });
});
