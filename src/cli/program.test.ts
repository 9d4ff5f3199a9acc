import { describe, expect, it } from "vitest";

import { wrapHelp } from "./program.ts";

const fitted = (text: string, width = 40): string[] => wrapHelp(text, width).split("\n");

describe("help on a terminal", () => {
  it("stays as it is where it fits", () => {
    const text = "Usage: x\n\nOne line\nand another\n";
    expect(wrapHelp(text, 40)).toBe(text);
  });

  it("wraps paragraphs anew", () => {
    expect(fitted("Exit codes: 0 written, or not wanted; 2\nusage; 3 not reached\nand so on\n\nend")).toEqual([
      "Exit codes: 0 written, or not wanted; 2",
      "usage; 3 not reached",
      "and so on",
      "",
      "end",
    ]);
    expect(fitted("Exit codes: 0 written, or not wanted; 2 usage\nand so on\n")).toEqual([
      "Exit codes: 0 written, or not wanted; 2",
      "usage and so on",
      "",
    ]);
  });

  it("wraps the text behind a term, and leaves commands whole", () => {
    expect(fitted("  name  a text that says what the name is good for", 40)).toEqual([
      "  name  a text that says what the name",
      "        is good for",
    ]);
    expect(fitted("  conformance run        the embedded server of ours")).toEqual([
      "  conformance run",
      "      the embedded server of ours",
    ]);
    const command = "  conformance run --target acme.json --out somewhere";
    expect(fitted(command)).toEqual([command]);
  });
});
