import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { clauses } from "../../spec/clauses.ts";
import { sampleReportsByKind } from "../../report/formats/testing/sample-reports-by-kind.ts";
import { sampleFinding, sampleReport } from "../../report/testing/sample.ts";
import { prepareFormats } from "../../cli/report/report-flags.ts";
import { saveAndWriteFormats } from "./write-formats.ts";

const folder = mkdtempSync(join(tmpdir(), "write-"));

describe("writing formats at the end of a run", () => {
  it("costs no other format where one can no longer be written", async () => {
    const [html, junit, har] = ["a.html", "a.xml", "a.har"].map((name) => join(folder, name));
    const prepared = prepareFormats({ html: html ?? "", junit: junit ?? "", har: har ?? "" });
    mkdirSync(html ?? "");
    const { evidence: _, ...rest } = sampleReportsByKind.broken;
    const problems = await saveAndWriteFormats({ ...rest, evidence: null }, prepared);
    expect(problems).toEqual([
      `--html could not be written: ${html} (EISDIR).`,
      expect.stringMatching(/^--har could not be written: .*a\.har \(an archive is made of exchanges/),
    ]);
    expect(readFileSync(junit ?? "", "utf8")).toContain("<testsuites");
  });

  it("makes Markdown that a comment can hold, however much is broken", async () => {
    const file = join(folder, "a.md");
    const findings = Object.keys(clauses).map((clause) =>
      sampleFinding({ clause, outcome: "warning", expected: "x".repeat(600), actual: "<".repeat(600) }),
    );
    const document = { report: sampleReport(findings), evidence: null, load: new Map() };
    expect(await saveAndWriteFormats(document, prepareFormats({ markdown: file }))).toEqual([]);
    const markdown = readFileSync(file, "utf8");
    expect(markdown.length).toBeLessThan(65_536);
    expect(markdown).toMatch(/_Cut here: /);
  });
});
