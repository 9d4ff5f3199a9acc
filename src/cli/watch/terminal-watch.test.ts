import { describe, expect, it } from "vitest";

import type { RemainingRetries } from "../../suites/deliveries/retry-evidence.ts";
import { formatRetryProgress, startProgressLine } from "./terminal-watch.ts";

const epochMs = new Date(2026, 0, 31, 10, 0, 0).getTime();
const awaited: RemainingRetries = {
  kind: "awaited",
  attempts: 2,
  lastMs: 60_000,
  nextMs: 360_000,
  latestMs: 9_000_000,
};

describe("how far a watch has come", () => {
  it.each<[RemainingRetries, string]>([
    [awaited, "watching: attempt 2 came at 10:01:00, the next is due about 10:06:00 (the last by 12:30:00)"],
    [
      { kind: "quiet", attempts: 5, lastMs: 60_000, untilMs: 120_000 },
      "watching: attempt 5 came at 10:01:00, and none must follow (until 10:02:00)",
    ],
    [{ kind: "over", attempts: 1 }, "watched: 1 attempt came, and no more are due"],
    [{ kind: "nothing", reason: "nobody came" }, "nothing to watch: nobody came"],
  ])("%o is said in one line", (outlook, text) => {
    expect(formatRetryProgress(outlook, epochMs)).toBe(text);
  });

  const written = (stream: { readonly isTTY?: boolean; readonly columns?: number }, isQuiet: boolean): string[] => {
    const texts: string[] = [];
    const line = startProgressLine({ ...stream, write: (text) => texts.push(text) }, epochMs, isQuiet);
    line.show(awaited);
    line.show(awaited);
    line.show({ ...awaited, attempts: 3 });
    line.done();
    return texts;
  };

  it("is a line for each change where nobody can write over it", () => {
    expect(written({}, false)).toEqual([
      expect.stringMatching(/^watching: attempt 2 .*\n$/),
      expect.stringMatching(/^watching: attempt 3 .*\n$/),
    ]);
  });

  it("is one line on a terminal, no longer than the terminal is wide", () => {
    const texts = written({ isTTY: true, columns: 30 }, false);
    expect(texts).toHaveLength(3);
    expect(texts[0]).toBe("\r\u001b[2Kwatching: attempt 2 came at 1");
    expect(texts[2]).toBe("\r\u001b[2K");
  });

  it("is not said to the quiet", () => {
    expect(written({ isTTY: true }, true)).toEqual([]);
  });
});
