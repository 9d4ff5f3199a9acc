import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { commandLineIn } from "./testing/command.ts";

const root = mkdtempSync(join(tmpdir(), "contradictory-"));
const conformance = commandLineIn(root);
const saved = fileURLToPath(new URL("testing/saved-by-0.1.0", import.meta.url));

/** Replaces a text in a file. Fails if the file does not contain the text. */
function change(file: string, words: string | RegExp, changed: string): void {
  const text = readFileSync(file, "utf8");
  expect(text).toMatch(words);
  writeFileSync(file, text.replace(words, changed));
}

cpSync(saved, join(root, "sound"), { recursive: true });
cpSync(saved, join(root, "other"), { recursive: true });
change(join(root, "other/run/report.json"), '"verdict": "nonconformant"', '"verdict": "partial"');
change(join(root, "other/load/report.json"), /"pass": \d+/, '"pass": 1000');
const nights = join(root, "other/history/nights");
change(join(nights, readdirSync(nights)[0] ?? ""), /"fail":\d+/, '"fail":1000');
for (const kind of ["sound", "other"]) {
  mkdirSync(join(root, kind), { recursive: true });
  const vendors = [{ name: "A", report: `${kind}/run`, load: `${kind}/load` }];
  writeFileSync(join(root, `${kind}.json`), JSON.stringify({ vendors }));
}

const verdict = /contradicts itself: its verdict is partial, and from its findings follows nonconformant\./;
const totals = /contradicts itself: its totals say pass: 1000, and its findings have \d+\./;

const commands: readonly [(kind: string) => string[], RegExp][] = [
  [(kind) => ["report", `${kind}/run`], verdict],
  [(kind) => ["report", `${kind}/load`], totals],
  [(kind) => ["compare", `${kind}/run`, "sound/run"], verdict],
  [(kind) => ["compare", "sound/load", `${kind}/load`], totals],
  [(kind) => ["verify", "sound/run/statement.json", `${kind}/run`], verdict],
  [(kind) => ["vendors", `${kind}.json`, "--out", "out"], totals],
  [
    (kind) => ["trend", "--history", `${kind}/history`, "--html", "trend.html"],
    /^The history is refused: .*\.json: it contradicts itself: its totals say fail: 1000, /,
  ],
];

describe("a saved report that contradicts itself", () => {
  it.each(commands)("is refused in one line, and a sound one of 0.1.0 is not: %s", async (argsOf, reason) => {
    const refused = await conformance(argsOf("other"));
    expect([refused.code, refused.out]).toEqual([2, ""]);
    expect(refused.err).toMatch(reason);
    expect(refused.err.trimEnd().split("\n")).toHaveLength(1);
    const read = await conformance(argsOf("sound"));
    expect(read.code).not.toBe(2);
    expect(read.err).not.toContain("contradicts");
  });
});
