import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { anEntry, archive } from "../app/recording/testing/archive.ts";
import { readReport } from "../report/model/report-file.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "judge-"));
const conformance = commandLineIn(folder);
const textOf = (...path: readonly string[]): string => readFileSync(join(folder, ...path), "utf8");
const fixture = new URL("../app/recording/testing/playwright.har", import.meta.url).pathname;
const key = "ah_recorded_5Qm2XwK8tR0vLz";

beforeAll(async () => {
  await conformance(["run", "--only", "Invoke", "--only", "Errors", "--out", "right", "--har", "right.har"]);
  await conformance([
    "run",
    "--only",
    "INV-10",
    "--fault",
    "missing-query-other-code",
    "--out",
    "wrong",
    "--har",
    "wrong.har",
  ]);
  copyFileSync(fixture, join(folder, "session.har"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("conformance judge", () => {
  it("judges the HAR of a right server: nothing is red", async () => {
    const { code, out } = await conformance(["judge", "right.har", "--out", "judged-right"]);
    expect(out).toMatch(/^Recording {2}right\.har, HAR 1\.2 by agent-hosting-conformance\nJudged {2}[\d,]+ exchanges/);
    expect(out).toMatch(/\npartial: nothing broken/);
    expect(code).toBe(0);
  });

  it("judges the HAR of a server with a fault: the fault is found, with its exchange", async () => {
    const { code, out } = await conformance(["judge", "wrong.har", "--out", "judged-wrong", "--junit", "junit.xml"]);
    expect(out).toMatch(/FAIL {2}INV-10/);
    expect(out).toContain("INVALID_INPUT");
    expect(out).not.toMatch(/FAIL {2}(?!INV-10)/);
    expect(code).toBe(1);
    expect(textOf("junit.xml")).toContain("INV-10");
  });

  it("writes a report that can be judged again, by the same checks", async () => {
    const again = await conformance(["judge", "judged-wrong", "--json", "again.json"]);
    expect(again.code).toBe(1);
    const [before, after] = [textOf("judged-wrong", "report.json"), textOf("again.json")].map((text) =>
      readReport(text, ""),
    );
    expect(after?.findings).toEqual(before?.findings);
    expect((await conformance(["rejudge", "judged-wrong"])).code).toBe(1);
  });

  it("judges the folder of a run again, as rejudge does, and its evidence.json likewise", async () => {
    const [judged, rejudged] = [await conformance(["judge", "wrong"]), await conformance(["rejudge", "wrong"])];
    expect(judged).toEqual(rejudged);
    expect((await conformance(["judge", "wrong/evidence.json"])).out).toContain("INV-10");
  });

  it("judges the evidence of a run that was moved away from its report, as a recording", async () => {
    copyFileSync(join(folder, "wrong", "evidence.json"), join(folder, "moved.json"));
    const { code, out } = await conformance(["judge", "moved.json", "--out", "judged-moved"]);
    expect(out).toMatch(/FAIL {2}INV-10/);
    expect(code).toBe(1);
  });

  it("writes no key, and with --no-bodies no body", async () => {
    const { code, out, err } = await conformance([
      "judge",
      "session.har",
      "--no-bodies",
      "--out",
      "bare",
      "--html",
      "bare.html",
      "--har",
      "bare.har",
    ]);
    expect(code).toBe(0);
    const written = [
      out,
      err,
      textOf("bare.html"),
      textOf("bare.har"),
      ...readdirSync(join(folder, "bare")).map((name) => textOf("bare", name)),
    ];
    for (const text of written) expect(text).not.toContain(key.slice(3, 14));
    expect(textOf("bare", "evidence.json")).not.toContain("You said");
    expect(textOf("bare.html")).toContain("The recording");
  });

  it("judges several files, each by itself", async () => {
    const { code, out } = await conformance(["judge", "session.har", "wrong.har", "-q"]);
    expect(out.match(/^(partial|nonconformant):/gm)).toEqual(["partial:", "nonconformant:"]);
    expect(code).toBe(1);
  });

  it.each<[string, string[], RegExp]>([
    ["a file that is not there", ["none.har"], /^The recording cannot be read: none\.har \(ENOENT\)/],
    ["a file that is not JSON", ["text.har"], /^text\.har is not JSON.*Give a HAR/],
    ["JSON of another kind", ["other.json"], /^other\.json has no traffic/],
    ["lines that are no exchanges", ["bad.jsonl"], /^bad\.jsonl, line 1 is no exchange: id/],
    ["a HAR without the interface", ["elsewhere.har"], /^elsewhere\.har has no request to this interface/],
    ["a HAR that is too large", ["large.har"], /^large\.har has 201 MiB; at most 200 MiB/],
    [
      "another server",
      ["session.har", "--base-url", "http://other.example"],
      /^session\.har has no exchange with http:\/\/other/,
    ],
    ["a tier that is none", ["session.har", "--tier", "gold"], /^--tier is "gold"; give free, pro, team/],
    ["a key that the recording lacks", ["session.har", "--tier", "key-7=pro"], /^--tier names the key "key-7"/],
    [
      "formats of several files",
      ["session.har", "right.har", "--html", "x.html"],
      /^--out and formats are of one report/,
    ],
  ])("refuses %s with one line", async (_, args, says) => {
    writeFileSync(join(folder, "text.har"), "log: {");
    writeFileSync(join(folder, "other.json"), '{"a": 1}');
    writeFileSync(join(folder, "bad.jsonl"), '{}\n{"id":\n');
    writeFileSync(join(folder, "elsewhere.har"), JSON.stringify(archive([anEntry({ url: "http://h/a" })])));
    writeFileSync(join(folder, "large.har"), "");
    truncateSync(join(folder, "large.har"), 200 * 1024 * 1024 + 1);
    const { code, out, err } = await conformance(["judge", ...args]);
    expect(err).toMatch(says);
    expect({ code, out, lines: err.trimEnd().split("\n").length }).toEqual({ code: 2, out: "", lines: 1 });
  });
});
