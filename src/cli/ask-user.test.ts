import { afterEach, describe, expect, it, vi } from "vitest";

import { askTier } from "./ask-user.ts";

afterEach(() => void vi.restoreAllMocks());

describe("the tier of a key whose headers do not show it, without a terminal", () => {
  it.each([
    [false, /^The rate-limit headers do not show the tier of the key `main`: give --tier, or `tier` of the key.*\n\n$/],
    [true, /^$/],
  ])("is not asked for; with --quiet %s the advice is as expected", async (isQuiet, advice) => {
    vi.spyOn(process, "stdin", "get").mockReturnValue({ ...process.stdin, isTTY: false } as typeof process.stdin);
    let written = "";
    vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      written += String(text);
      return true;
    });
    expect(await askTier("main", isQuiet, { signal: new AbortController().signal, interrupt() {} })).toBeNull();
    expect(written).toMatch(advice);
  });
});
