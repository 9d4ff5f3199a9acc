import { describe, expect, it } from "vitest";

import { sampleExchange, sampleFinding, trialFields, sampleLoadRun, sampleReport } from "../report/testing/sample.ts";
import { listFormats, type ReportDocument, renderFormat, renderHar, renderText } from "./index.ts";

const loadDocument: ReportDocument = {
  report: sampleReport(
    [
      sampleFinding({
        clause: "LIM-2",
        ...trialFields("burst", "free", "autocannon"),
        outcome: "fail",
        expected: "10 in a minute",
        actual: "11",
      }),
    ],
    { load: { runs: [sampleLoadRun({ scenario: "burst" })] } },
  ),
  evidence: null,
  load: new Map(),
};

describe("renderText", () => {
  it("shows a report of load as one of load", () => {
    const text = renderText(loadDocument);
    expect(text).toMatch(/^conformant under load: /m);
    expect(text).toContain("npx agent-hosting-conformance load burst --tier free --engine autocannon");
  });
});

describe("renderFormat", () => {
  it("makes every format that is listed, by its name, or says what it is made of", () => {
    expect(listFormats()).toContainEqual({
      name: "junit",
      says: "JUnit XML, as CI systems read it",
      extension: "xml",
      contentType: "application/xml",
    });
    expect(renderFormat("junit", loadDocument)).toMatch(/^<\?xml /);
    expect(() => renderFormat("har", loadDocument)).toThrow(/^har cannot be made: an archive is made of exchanges/);
  });
});

describe("renderHar", () => {
  it("takes what was read, and says where there is nothing to make it of", () => {
    const exchanges = [sampleExchange("x1")];
    const kept: ReportDocument = {
      report: sampleReport([]),
      evidence: { exchanges, deliveries: [], probes: [] },
      load: new Map(),
    };
    expect(JSON.parse(renderHar(kept))).toMatchObject({ log: { entries: [{ comment: "x1" }] } });
    expect(() => renderHar(loadDocument)).toThrow(/^An archive is made of exchanges/);
  });
});
