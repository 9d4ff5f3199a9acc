import { describe, expect, it } from "vitest";

import { truncate, sanitize, sanitizeLine, truncateStart } from "./sanitize.ts";

describe("text from a target", () => {
  it.each([
    { text: "plain\ttext\nZürich 日本 🙂 é", sanitized: "plain\ttext\nZürich 日本 🙂 é" },
    { text: "\u001b[31mred\u001b[0m", sanitized: String.raw`\x1b[31mred\x1b[0m` },
    { text: "\u009b2J\u0000\b\u007f", sanitized: String.raw`\x9b2J\x00\x08\x7f` },
    { text: "over\rwritten", sanitized: String.raw`over\rwritten` },
    { text: "\u202eevil\u2066", sanitized: String.raw`\u{202e}evil\u{2066}` },
    { text: "a\u200bb\u2028c\u{e0041}\u3164", sanitized: String.raw`a\u{200b}b\u{2028}c\u{e0041}\u{3164}` },
    { text: "half \ud83d of one", sanitized: String.raw`half \u{d83d} of one` },
  ])("becomes harmless: $sanitized", ({ text, sanitized }) => {
    expect(sanitize(text)).toBe(sanitized);
  });

  it("becomes one line of bounded length", () => {
    expect(sanitizeLine("  two\r\n  lines\t")).toBe("two lines");
    expect(sanitizeLine("x".repeat(400))).toBe(`${"x".repeat(299)}…`);
    expect(sanitizeLine("\u0000".repeat(400), 10)).toBe(String.raw`\x00\x00\…`);
  });

  it("is bounded where marks are heaped on one letter without end", () => {
    const heap = `ab${"\u0301".repeat(5000)}`;
    expect(truncate(heap, 100)).toHaveLength(100);
    expect(truncateStart(heap, 100)).toHaveLength(100);
    expect(sanitizeLine(heap, 50).length).toBeLessThanOrEqual(101);
  });

  it("is never cut within a letter", () => {
    expect(truncate("ab🙂", 3)).toBe("ab");
    expect(truncate("ab🙂", 4)).toBe("ab🙂");
    expect(truncateStart("🙂ab", 3)).toBe("ab");
    expect(truncateStart("🙂ab", 4)).toBe("🙂ab");
    expect(truncate("abe\u0301c", 3)).toBe("ab");
    expect(truncateStart("ae\u0301bc", 3)).toBe("bc");
    expect(sanitizeLine("日本語日本語", 6)).toBe("日本…");
  });
});
