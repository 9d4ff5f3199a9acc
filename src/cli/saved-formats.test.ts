import { describe, expect, it } from "vitest";

import { commandLineIn } from "./testing/command.ts";

/** Files that version 0.1.0 wrote: reports of two runs and a load, their evidence and statements, and two nights of a history. */
const saved = new URL("testing/saved-by-0.1.0/", import.meta.url).pathname;

describe("what version 0.1.0 has written", () => {
  const run = commandLineIn(saved);

  it.each([
    ["report run --quiet", 0, "nonconformant: 1 must clause broken (INV-2), 32 checks of 21 clauses passed"],
    ["rejudge run --quiet", 1, "nonconformant: 1 must clause broken (INV-2)"],
    ["compare run newer", 0, "no regression, 17 only in the older, 19 unchanged"],
    ["verify run/statement.json run", 0, "verified: embedded reference server is nonconformant"],
    ["report load --quiet", 0, "partial under load: nothing broken"],
    ["load judge load --quiet", 0, "24 checks of 20 clauses passed"],
    ["verify load/statement.json load", 0, "verified: embedded reference server"],
    ["trend --history history --html -", 0, "2026-11-23"],
  ])("still opens: %s", async (line, code, text) => {
    const ended = await run(line.split(" "));
    expect(`${ended.out}${ended.err}`).toContain(text);
    expect(ended.code).toBe(code);
  });
});
