import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { rejudgeRun } from "../rejudge.ts";
import { readReportDocument, readSavedRun } from "./saved-report.ts";
import { cliMessages } from "../../cli/messages.ts";

const folder = fileURLToPath(new URL("../../../reports/example", import.meta.url));

describe("the example report, which is made anew as reports/README.md says where this fails", () => {
  it("is still read, with its evidence", () => {
    const { report, evidence } = readReportDocument(folder);
    expect(report.findings.filter(({ outcome }) => outcome === "fail").map(({ clause }) => clause)).toEqual(["SSE-5"]);
    expect(evidence?.exchanges.length).toBe(report.requests);
  });

  it("has the rows that the suites of this version make of its evidence", () => {
    const { report, evidence } = readSavedRun(folder);
    const { findings, untestable } = rejudgeRun(report, evidence, cliMessages);
    expect(findings).toEqual(report.findings);
    expect(untestable).toEqual(report.untestable);
  });
});
