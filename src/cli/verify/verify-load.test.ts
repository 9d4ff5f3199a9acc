import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { scenarioNamed } from "../../load/scenarios.ts";
import { judgeTrial, type TrialResult } from "../../load/run-trials.ts";
import { evidenceOf, sample } from "../../load/testing/samples.ts";
import { serializeReport } from "../../report/model/report-file.ts";
import type { Report } from "../../report/model/report.ts";
import { withoutContradiction } from "../../report/testing/sample.ts";
import { sha256Of, statementOf, serializeStatement } from "../../report/statement/statement.ts";
import { assembleLoadReport } from "../../app/report/load-report.ts";
import { evidenceFileOf } from "../../load/trials.ts";
import { readReportDocument } from "../../app/report-folder/saved-report.ts";
import { compareWithReport } from "../../app/verify/compare-with-report.ts";
import { readStatement } from "../../app/verify/read-inputs.ts";
import { cliMessages } from "../messages.ts";

let folder: string;
const file = "load/minute-limit-free-k6.json";
const path = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verify-load-"));
  const scenario = scenarioNamed("minute-limit");
  if (scenario === undefined) throw new Error("there is no minute-limit");
  const trial = { scenario, tier: "free", engine: "k6" } as const;
  const evidence = evidenceOf([sample(), sample({ status: 429 }), sample({ status: null })]);
  const skipped: TrialResult = {
    kind: "skipped",
    trial: { ...trial, tier: "pro" },
    reason: "there is no key",
    needs: "a key",
  };
  const broken: TrialResult = { kind: "broken", trial: { ...trial, tier: "team" }, error: "TypeError", evidence: null };
  const report = assembleLoadReport([judgeTrial(trial, evidence), skipped, broken], {
    requirements: "1.1",
    target: { name: "Acme", baseUrl: "http://127.0.0.1:9/v1", tiers: { main: "free" } },
    started: new Date(0),
    finished: new Date(2000),
    waitedMs: 0,
    end: { kind: "planned" },
    fileOf: evidenceFileOf,
  });
  mkdirSync(dirname(path(file)));
  writeFileSync(path(file), JSON.stringify(evidence));
  writeFileSync(path("report.json"), serializeReport(report));
  const digests = {
    "report.json": sha256Of(readFileSync(path("report.json"))),
    [file]: sha256Of(readFileSync(path(file))),
    "load/other.json": sha256Of(""),
  };
  writeFileSync(path("statement.json"), serializeStatement(statementOf(readReportDocument(folder), digests)));
});
afterEach(() => rmSync(folder, { recursive: true }));

const change = (name: string, from: RegExp, to: string): void =>
  writeFileSync(path(name), readFileSync(path(name), "utf8").replace(from, to));
const mismatches = (): readonly string[] =>
  compareWithReport(readStatement(path("statement.json")).statement, folder, [cliMessages]).mismatches;

describe("a statement on load", () => {
  it("is verified by judging the load again, with what was not sent as the report tells it", () => {
    expect(mismatches()).toEqual([]);
  });

  it("names the evidence that was changed", () => {
    change(file, /429/, "200");
    expect(mismatches()[0]).toMatch(/^load\/minute-limit-free-k6\.json: its SHA-256 is/);
  });

  it("names a row that the evidence does not bear out", () => {
    change("report.json", /"outcome": "[a-z]+"/, '"outcome": "note"');
    const changed = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as Report;
    writeFileSync(join(folder, "report.json"), serializeReport(withoutContradiction(changed)));
    expect(mismatches()).toContainEqual(expect.stringMatching(/\(free, k6\): the report says note, its evidence/));
  });

  it("finds a figure of load that report and statement tell alike, and its evidence does not", () => {
    for (const name of ["report.json", "statement.json"]) change(name, /"sent": 3/, '"sent": 3000');
    expect(mismatches()).toContain("load.runs.0.requests.sent: the report says 3000, its evidence 3");
  });

  it("never reads evidence that a report names outside its folder", () => {
    change("report.json", /"evidence": "load\/minute-limit-free-k6\.json"/, '"evidence": "../../../etc/hostname"');
    expect(mismatches().at(-1)).toMatch(
      /^The evidence could not be judged: \.\.\/\.\.\/\.\.\/etc\/hostname is missing/,
    );
  });
});
