import { describe, expect, it } from "vitest";

import { cutAt, harmless, harmlessLine, lastOf } from "./harmless.ts";

describe("text of a target", () => {
  it.each([
    { text: "plain\ttext\nZürich 日本 🙂 é", shown: "plain\ttext\nZürich 日本 🙂 é" },
    { text: "\u001b[31mred\u001b[0m", shown: String.raw`\x1b[31mred\x1b[0m` },
    { text: "\u009b2J\u0000\b\u007f", shown: String.raw`\x9b2J\x00\x08\x7f` },
    { text: "over\rwritten", shown: String.raw`over\rwritten` },
    { text: "\u202eevil\u2066", shown: String.raw`\u{202e}evil\u{2066}` },
    { text: "a\u200bb\u2028c\u{e0041}\u3164", shown: String.raw`a\u{200b}b\u{2028}c\u{e0041}\u{3164}` },
    { text: "half \ud83d of one", shown: String.raw`half \u{d83d} of one` },
  ])("is shown harmless: $shown", ({ text, shown }) => {
    expect(harmless(text)).toBe(shown);
  });

  it("becomes one line of bounded length", () => {
    expect(harmlessLine("  two\r\n  lines\t")).toBe("two lines");
    expect(harmlessLine("x".repeat(400))).toBe(`${"x".repeat(299)}…`);
    expect(harmlessLine("\u0000".repeat(400), 10)).toBe(String.raw`\x00\x00\…`);
  });

  it("is bounded where marks are heaped on one letter without end", () => {
    const heap = `ab${"\u0301".repeat(5000)}`;
    expect(cutAt(heap, 100)).toHaveLength(100);
    expect(lastOf(heap, 100)).toHaveLength(100);
    expect(harmlessLine(heap, 50).length).toBeLessThanOrEqual(101);
  });

  it("is never cut within a letter", () => {
    expect(cutAt("ab🙂", 3)).toBe("ab");
    expect(cutAt("ab🙂", 4)).toBe("ab🙂");
    expect(lastOf("🙂ab", 3)).toBe("ab");
    expect(lastOf("🙂ab", 4)).toBe("🙂ab");
    expect(cutAt("abe\u0301c", 3)).toBe("ab");
    expect(lastOf("ae\u0301bc", 3)).toBe("bc");
    expect(harmlessLine("日本語日本語", 6)).toBe("日本…");
  });
});
