import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import type { Report } from "../../report/model/report.ts";
import { commandLineIn, type Ended } from "../testing/command.ts";
import { flagForSetting } from "../options.ts";
import { type FormatName, formatNames } from "../../report/formats/registry.ts";

const folder = mkdtempSync(join(tmpdir(), "formats-"));
const conformance = commandLineIn(folder);

const at = (name: string): string => join(folder, name);
const textOf = (name: string): string => readFileSync(at(name), "utf8");

/** Returns flags that write every format, except those in `leftOut`, into files whose names begin with `prefix`. */
const everyFormat = (prefix: string, leftOut: readonly FormatName[] = []): string[] =>
  formatNames.flatMap((name) => (leftOut.includes(name) ? [] : [flagForSetting(name), `${prefix}.${name}`]));

const brokenRun = (...more: string[]): string[] => [
  "run",
  "--fault",
  "done-twice",
  "--only",
  "Stream",
  "--quiet",
  ...more,
];

/** Converts the text of a format for a comparison. JSON is parsed first, because reading a report changes the order of fields. */
const contentOf = (name: FormatName, text: string): unknown => (name === "json" ? JSON.parse(text) : text);

describe("formats of a run", () => {
  let ended: Ended | null = null;
  beforeAll(async () => {
    ended = await conformance(brokenRun("--out", "kept", ...everyFormat("run")));
  });

  it("do not change how it ends", () => {
    expect(ended).toMatchObject({ code: 1, err: "" });
  });

  it.each(formatNames.map((name) => [name] as const))(
    "%s is the same from the run and from its kept report",
    async (name) => {
      const { code, out } = await conformance(["report", "kept", flagForSetting(name), "-"]);
      expect(code).toBe(0);
      expect(contentOf(name, out)).toEqual(contentOf(name, textOf(`run.${name}`)));
      expect(out.length).toBeGreaterThan(50);
    },
  );

  it.each([
    ["its folder", "kept"],
    ["its file", "kept/report.json"],
  ])("a kept report is shown when named by %s", async (_, path) => {
    const { code, out } = await conformance(["report", path]);
    expect(code).toBe(0);
    expect(out).toContain("FAIL  SSE-5");
    expect(out).toContain("nonconformant: 1 must clause broken (SSE-5)");
  });

  it.each<[string[], number]>([
    [[], 0],
    [["--exit-code"], 1],
    [["--exit-code", "--baseline", "known.json"], 0],
    [["--exit-code", "--baseline", "stale.json"], 1],
  ])("a kept report with %j ends with %i", async (flags, code) => {
    writeFileSync(at("known.json"), '{"known": [{"check": "SSE-5", "reason": "fixed in 2.3"}]}');
    writeFileSync(at("stale.json"), '{"known": [{"check": "SSE-4", "reason": "fixed in 2.2"}]}');
    expect((await conformance(["report", "kept", "--quiet", ...flags])).code).toBe(code);
  });

  it("a copy of report.json under another name has no evidence, and is shown without it", async () => {
    writeFileSync(at("copy.json"), textOf("kept/report.json"));
    expect((await conformance(["report", "copy.json", "--junit", "-"])).out).not.toContain("to send it again");
    const { code, err } = await conformance(["report", "copy.json", "--har", "copy.har"]);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(/^--har cannot be written: .*evidence\.json.*\n$/),
    });
    expect(existsSync(at("copy.har"))).toBe(false);
  });

  it.each<[string, string[], RegExp]>([
    ["a report that is not there", ["report", "nowhere"], /cannot be read: nowhere \(ENOENT\)/],
    ["damaged evidence", ["report", "damaged"], /evidence\.json is not JSON/],
    [
      "two formats on standard output",
      ["report", "kept", "--html", "-", "--har", "-"],
      /--html and --har cannot both be printed/,
    ],
    [
      "two formats in one file",
      ["report", "kept", "--html", "a", "--har", "./a"],
      /--html and --har name the same file/,
    ],
    [
      "two formats in one file by two names",
      ["report", "kept", "--html", "one", "--har", "other-name"],
      /--html and --har name the same file/,
    ],
    ["a file in a folder that is a file", brokenRun("--html", "kept/report.json/a.html"), /--html cannot be written/],
    ["a file that is a folder", brokenRun("--junit", "kept"), /--junit cannot be written: .* \(EISDIR\)/],
    ["two formats of a run on standard output", brokenRun("--json", "-", "--junit", "-"), /cannot both be printed/],
  ])("says in one line what is wrong with %s", async (_, args, message) => {
    mkdirSync(at("damaged"), { recursive: true });
    writeFileSync(at("damaged/report.json"), textOf("kept/report.json"));
    writeFileSync(at("damaged/evidence.json"), '{\n"');
    rmSync(at("other-name"), { force: true });
    symlinkSync("one", at("other-name"));
    const { code, err, out } = await conformance(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(message);
    expect(err.trimEnd()).not.toContain("\n");
  });

  it("a format on standard output is alone there", async () => {
    const { out, err } = await conformance(brokenRun("--junit", "-"));
    expect(out).toMatch(/^<\?xml [^]*<\/testsuites>\n$/);
    expect(err).toContain("nonconformant: 1 must clause broken (SSE-5)");
  });
});

describe("what a CI system is told", () => {
  const actions = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: at("summary.md") };
  const annotation = /^::error title=SSE-5 \(must\)::/m;

  it("is annotations, and a summary that is added to", async () => {
    writeFileSync(at("summary.md"), "before\n");
    expect((await conformance(brokenRun(), actions)).out).toMatch(annotation);
    await conformance(brokenRun(), actions);
    expect(textOf("summary.md")).toMatch(
      /^before\n## Conformance: nonconformant\n[^]*\n## Conformance: nonconformant\n/,
    );
  });

  it("stands on standard error where a format takes standard output", async () => {
    const { out, err } = await conformance(brokenRun("--json", "-"), actions);
    expect((JSON.parse(out) as Report).verdict).toBe("nonconformant");
    expect(err).toMatch(annotation);
  });

  it("is nothing elsewhere, and nothing of a kept report", async () => {
    expect((await conformance(brokenRun())).out).not.toMatch(annotation);
    expect((await conformance(["report", "kept"], actions)).out).not.toMatch(annotation);
  });

  it("leaves a summary alone that is full or cannot be written, and says so", async () => {
    writeFileSync(at("full.md"), "x".repeat(1024 * 1024 - 20));
    const full = await conformance(brokenRun(), { GITHUB_STEP_SUMMARY: at("full.md") });
    expect(full).toMatchObject({ code: 1, err: expect.stringContaining("The summary of this step is full") });
    const missing = await conformance(brokenRun(), { GITHUB_STEP_SUMMARY: at("nowhere/summary.md") });
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("cannot be written") });
  });
});
