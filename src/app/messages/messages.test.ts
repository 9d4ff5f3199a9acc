import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { conformanceProgram } from "../../cli/program.ts";
import { cliMessages } from "../../cli/messages.ts";
import { libraryMessages } from "../../library/scope.ts";
import { packageRoot } from "../../base/package-root.ts";
import { anyOf, type Enabler, needsMoreTime, need, type SkipCause, needsTierOfKey } from "../../run/skip-reason.ts";

const wait: SkipCause = { why: "too long a wait", for: "a window must pass", ms: 60_400, leftMs: -20 };

describe("what was not exercised, in the words of each way in", () => {
  it.each<[SkipCause, string, string]>([
    ["no answer came", "no answer came", "no answer came"],
    [
      wait,
      "a window must pass: 60 s to wait, and --max-wait leaves 0 s",
      "a window must pass: 60 s to wait, and maxWaitMs leaves 0 s",
    ],
    [
      { why: "no time left", takes: "it needs up to 60 s of waiting" },
      "it needs up to 60 s of waiting, which --max-wait does not leave",
      "it needs up to 60 s of waiting, which maxWaitMs does not leave",
    ],
    [
      { why: "nothing judged", because: { why: "requests used up", most: 30 } },
      "Nothing was judged: --max-requests 30 is used up.",
      "Nothing was judged: maxRequests 30 is used up.",
    ],
    [{ why: "read only" }, "--read-only: it sends more than GET requests", "readOnly: it sends more than GET requests"],
  ])("says why: %j", (reason, flags, options) => {
    expect([cliMessages.reason(reason), libraryMessages.reason(reason)]).toEqual([flags, options]);
  });

  it.each<[Enabler, string, string]>([
    [
      need("clock"),
      "`clock.advance` in the target file: a call that moves the target's clock",
      "`clock.advance` in the target file: a call that moves the target's clock",
    ],
    [
      needsMoreTime,
      "a longer `--max-wait`, or `clock.advance` in the target file",
      "a longer `maxWaitMs`, or `clock.advance` in the target file",
    ],
    [
      anyOf(need("clock"), need("maxWaitMs"), need("watch")),
      "`clock.advance` in the target file, a longer `--max-wait`, or `--watch`",
      "`clock.advance` in the target file, a longer `maxWaitMs`, or `conformance run --watch`",
    ],
    [
      needsTierOfKey,
      "`tier` of a key in the target file, or `--tier`",
      "`tier` of a key in the target file, or `tier` beside `apiKey`",
    ],
    [
      need("receiver"),
      "`webhooks` in the target file (or `--receiver-listen`, `--receiver-url`): where the target can reach the harness",
      "`webhooks` of the target: where the target can reach the harness",
    ],
    [
      need("agents.slow"),
      "`agents.slow` in the target file: an agent that takes a second or more to answer an invoke",
      "`agents.slow` in the target file: an agent that takes a second or more to answer an invoke",
    ],
  ])("says what would enable it: %j", (enabler, flags, options) => {
    expect([cliMessages.needs(enabler), libraryMessages.needs(enabler)]).toEqual([flags, options]);
  });
});

describe("the core", () => {
  it("knows no flag of the command line", async () => {
    const { commands } = await conformanceProgram(() => true);
    const flags = new Set(commands.flatMap(({ options }) => options.map(({ long }) => long)));
    const files = globSync("src/{run,rules,suites,load,target,receiver}/**/*.ts", { cwd: packageRoot() }).filter(
      // Skips k6's flags: some have the same names as the harness's own flags.
      (file) => !/\.test\.ts$|engines\/k6\/|\/testing\//.test(file),
    );
    const named = files.flatMap((file) =>
      [...readFileSync(join(packageRoot(), file), "utf8").matchAll(/--[a-z][a-z-]+/g)]
        .filter(([flag]) => flags.has(flag))
        .map(([flag]) => `${file}: ${flag}`),
    );
    expect(flags.size).toBeGreaterThan(20);
    expect(files.length).toBeGreaterThan(150);
    expect(named).toEqual([]);
  });
});
