import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeEach, describe, expect, it } from "vitest";

import { serializeEvidence, serializeReport } from "../../report/model/report-file.ts";
import { sampleExchange, sampleFinding, sampleReport, textBody } from "../../report/testing/sample.ts";
import { UsageError } from "../../base/line.ts";
import { readReportDocument, readReportWithoutEvidence } from "./saved-report.ts";

const folder = mkdtempSync(join(tmpdir(), "read-document-"));
afterAll(() => rmSync(folder, { recursive: true }));

const secret = "conformance-8d3c2b71-0f4e-4f6a-9a51-6f2f7c1d9e3b";
const creation = sampleExchange("x1", { body: textBody(JSON.stringify({ url: "http://127.0.0.1/h", secret })) });
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

beforeEach(() => {
  write("report.json", serializeReport(sampleReport([sampleFinding({ actual: `the target says ${secret} aloud` })])));
  write("evidence.json", serializeEvidence({ exchanges: [creation], deliveries: [], probes: [] }));
});

describe("a kept report", () => {
  it.each([
    ["with its evidence", readReportDocument, 1],
    ["alone", readReportWithoutEvidence, undefined],
  ])("is read %s, without the secrets of webhooks", (_, read, count) => {
    const { report, evidence } = read(folder);
    expect(report.findings[0]?.actual).toBe("the target says [redacted webhook secret] aloud");
    expect(evidence?.exchanges.length).toBe(count);
    expect(JSON.stringify(evidence)).not.toContain(secret);
  });

  it.each(["{", '{"format":"x"}', ""])("is refused with damaged evidence (%j), and read without it", (text) => {
    write("evidence.json", text);
    expect(() => readReportDocument(folder)).toThrow(UsageError);
    expect(readReportWithoutEvidence(folder).report.findings).toHaveLength(1);
  });

  it("is refused when it is damaged itself", () => {
    write("report.json", "{");
    expect(() => readReportWithoutEvidence(folder)).toThrow(/report\.json is not JSON/);
    expect(() => readReportWithoutEvidence(join(folder, "none"))).toThrow(/cannot be read: .*ENOENT/);
  });
});
