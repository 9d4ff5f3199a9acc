import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { comparisonSchema } from "../report/compare/comparison.ts";
import { sampleFinding, sampleLoadRun, sampleReport, withoutContradiction } from "../report/testing/sample.ts";
import { serializeEvidence, serializeReport } from "../report/model/report-file.ts";
import type { Report } from "../report/model/report.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "compare-"));
const conformance = commandLineIn(folder);

const keep = (name: string, report: Report): void => {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, "report.json"), serializeReport(withoutContradiction(report)));
};
const written = (name: string): string => readFileSync(join(folder, name), "utf8");

keep("fine", sampleReport([sampleFinding({}), sampleFinding({ clause: "ERR-2", reading: "form-a" })]));
keep(
  "broken",
  sampleReport([
    sampleFinding({ outcome: "fail", expected: "one done", actual: "two" }),
    sampleFinding({ clause: "ERR-2", reading: "form-b" }),
  ]),
);
keep("other", sampleReport([sampleFinding({ clause: "INV-1" })]));
keep("load", sampleReport([], { load: { runs: [sampleLoadRun()] } }));
keep("slow", sampleReport([], { load: { runs: [sampleLoadRun({ perSecond: { sent: 600, admitted: 500 } })] } }));
writeFileSync(join(folder, "damaged.json"), "{");

describe("conformance compare", () => {
  it.each<[string, string[], number, RegExp]>([
    ["the same report", ["fine", "fine"], 0, /^no regression, 2 unchanged$/m],
    ["one that is worse", ["fine", "broken"], 1, /^1 regression \(SSE-5\), 1 newly failing, 1 with another reading/m],
    ["one that is better", ["broken", "fine"], 0, /^no regression, 1 fixed, 1 with another reading/m],
    ["a file", ["fine/report.json", "broken/report.json"], 1, /^regression {2}failing {2}SSE-5$/m],
    [
      "what counts on top",
      ["broken", "fine", "--regression", "default,reading"],
      1,
      /^regression {2}reading {2}ERR-2$/m,
    ],
    ["nothing that counts", ["fine", "broken", "--regression", "none"], 0, /^no regression, 1 newly failing/m],
    [
      "quietly",
      ["fine", "broken", "-q"],
      1,
      /^regression {2}failing {2}SSE-5: expected one done; got two\n1 regression/,
    ],
    ["load", ["load", "slow"], 0, /sent per second +1,234\/s +600\/s +-51 %/],
    ["load with a limit", ["load", "slow", "--regression", "throughput:20%"], 1, /^2 regressions \(throughput\)/m],
  ])("%s", async (_, args, code, out) => {
    const ended = await conformance(["compare", ...args]);
    expect(ended.out).toMatch(out);
    expect(ended.code).toBe(code);
  });

  it.each<[string, string[], number, RegExp]>([
    ["an unknown kind", ["fine", "fine", "--regression", "bad"], 2, /^--regression: "bad" is no kind of regression/],
    [
      "a run and a load",
      ["fine", "load"],
      2,
      /^The report fine is of a run, the report load of load\. Give two reports of the same kind/,
    ],
    ["no report", ["fine", "absent"], 2, /^The report cannot be read: absent \(ENOENT\)/],
    ["a damaged report", ["fine", "damaged.json"], 2, /^damaged\.json is not JSON/],
    ["one report", ["fine"], 2, /missing required argument 'new'/],
    [
      "two texts on one output",
      ["fine", "fine", "--json", "-", "--markdown", "-"],
      2,
      /^--json and --markdown cannot both be printed/,
    ],
    [
      "two texts in one file",
      ["fine", "fine", "--json", "both", "--markdown", "./both"],
      2,
      /^--json and --markdown name the same file/,
    ],
    [
      "a file that cannot be filled",
      ["fine", "fine", "--html", "/dev/full", "--json", "-"],
      4,
      /^--html could not be written: \/dev\/full \(ENOSPC\)/,
    ],
    [
      "a file that cannot be written",
      ["fine", "fine", "--html", "fine/report.json/x.html"],
      2,
      /^--html cannot be written/,
    ],
    ["judging what was not kept", ["fine", "fine", "--rejudge"], 2, /^The report cannot be read: fine \(ENOENT\)/],
    ["nothing in common", ["fine", "other"], 3, /^The reports have no finding and no load in common/],
  ])("refuses %s in one line", async (_, args, code, err) => {
    const ended = await conformance(["compare", ...args]);
    expect(ended.err).toMatch(err);
    expect(ended.err.trimEnd().split("\n")).toHaveLength(1);
    expect(ended.code).toBe(code);
  });

  it("hides what an environment holds in confidence, and not what that of an earlier command of the process held", async () => {
    const refused = (variables = {}) => conformance(["compare", "not-here", "fine"], variables);
    expect((await refused({ CONFORMANCE_API_KEY: "not-here" })).err).toContain("[redacted key]");
    expect((await refused()).err).toContain("not-here");
  });

  it("judges the kept evidence of both again where that is asked for", async () => {
    for (const name of ["fine", "broken"])
      writeFileSync(
        join(folder, name, "evidence.json"),
        serializeEvidence({ exchanges: [], deliveries: [], probes: [] }),
      );
    const { out, code } = await conformance(["compare", "fine", "broken/report.json", "--rejudge", "-q"]);
    expect(out).toMatch(/^no regression, \d+ unchanged\n$/);
    expect(code).toBe(0);
  });

  it("writes JSON, Markdown and a page, and prints one of them alone", async () => {
    const files = ["--json", "out.json", "--html", "out.html"];
    const ended = await conformance(["compare", "fine", "broken", "--markdown", "-", ...files]);
    expect(ended.code).toBe(1);
    expect(ended.out).toMatch(/^## ❌ 1 regression \(SSE-5\)/);
    expect(comparisonSchema.parse(JSON.parse(written("out.json"))).regressions).toMatchObject([{ kind: "failing" }]);
    expect(written("out.html")).toMatch(/^<!doctype html>/i);
  });

  it("has help with what counts and examples", async () => {
    const { out, code } = await conformance(["compare", "--help"]);
    expect(code).toBe(0);
    expect(out).toMatch(/default:\s+failing,warning,error,skipped-must/);
    expect(out).toMatch(/^Examples:\n {2}conformance compare/m);
  });
});
