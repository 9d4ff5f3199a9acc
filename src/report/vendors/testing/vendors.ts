import type { Exchange } from "../../../evidence/exchange.ts";
import type { ReportFinding } from "../../model/finding.ts";
import { sampleExchange, sampleFinding, sampleLoadRun, sampleReport, sampleResult } from "../../testing/sample.ts";
import type { Vendor } from "../vendor.ts";

/** Creates a judged vendor whose report has these findings and exchanges. */
export const sampleVendor = (
  name: string,
  findings: readonly ReportFinding[],
  exchanges: readonly Exchange[] = [],
): Extract<Vendor, { kind: "judged" }> => ({
  kind: "judged",
  name,
  document: {
    report: sampleReport(findings, {
      target: { name, baseUrl: `http://127.0.0.1:8080/${name}/v1`, fingerprint: name, tiers: { key: "free" } },
    }),
    evidence: { exchanges, deliveries: [], probes: [] },
    load: new Map(),
  },
  load: null,
  isKept: false,
  notes: [],
});

export const unjudgedVendor = (name: string, reason: string): Vendor => ({
  kind: "unjudged",
  name,
  baseUrl: "http://127.0.0.1:9/v1",
  reason,
});

export const sampleObservation = (clause: string, reason: string, instance?: string): ReportFinding =>
  sampleResult("observed", clause, "Stream", { reason, ...(instance === undefined ? {} : { instance }) });

/** Creates vendors whose reports have `text` in place of every free text. */
export function vendorsWithText(text: string): Vendor[] {
  const fails = sampleFinding({
    clause: "INV-3",
    outcome: "fail",
    suite: text,
    expected: text,
    actual: text,
    instance: text,
  });
  const skips = sampleFinding({ clause: "HOOK-1", outcome: "skipped", reason: text, needs: text });
  const follows = sampleFinding({ clause: "ERR-2", reading: text });
  const own = sampleFinding({ clause: text, check: text });
  const load = {
    report: sampleReport([], { load: { runs: [sampleLoadRun({ scenario: text, tier: text })] } }),
    evidence: null,
    load: new Map(),
  };
  const exchange = sampleExchange("x1", {}, { headers: [["X-RateLimit-Limit", text]] });
  const first = sampleVendor(
    text,
    [fails, skips, follows, own, sampleObservation("LST-9", text), sampleObservation("LIM-16", text, "free")],
    [exchange],
  );
  const report = { ...first.document.report, suite: { version: text, clauses: text, requirements: text } };
  return [
    { ...first, document: { ...first.document, report }, load, isKept: true, notes: [text] },
    sampleVendor("other", [sampleFinding({ clause: "INV-3" }), sampleObservation("LST-9", "nothing")]),
    unjudgedVendor(`${text}.`, text),
  ];
}
