import type { ReportFinding } from "../../model/finding.ts";
import type { ReportDocument, Report } from "../../model/report.ts";
import {
  sampleDelivery,
  sampleExchange,
  sampleFinding,
  sampleLoadRun,
  sampleReport,
  sampleResult,
  trialFields,
} from "../../testing/sample.ts";

const passed = sampleFinding({ clause: "SSE-4" });
const failed = sampleResult("fail", "SSE-5", "Stream", {
  expected: "one end",
  actual: "two ends",
  evidence: ["x1"],
});

const withEvidence = (findings: readonly ReportFinding[], report: Partial<Report>): ReportDocument => ({
  report: sampleReport(findings, report),
  evidence: { exchanges: [sampleExchange("x1"), sampleExchange("x2")], deliveries: [sampleDelivery("d1")], probes: [] },
  load: new Map(),
});

const witness = ["1 sent at 0 ms, 200 at 3 ms", "2 sent at 1 ms, 200 at 4 ms"];

/** A sample report of each kind. */
export const sampleReportsByKind = {
  conformant: withEvidence([passed, sampleFinding({ clause: "SSE-8", reading: "present" })], {}),
  broken: withEvidence(
    [
      passed,
      failed,
      sampleResult("fail", "HOOK-1", "Webhooks", { expected: "a", actual: "b", evidence: ["d1"] }),
      sampleResult("warning", "ERR-1", "Errors", { expected: "c", actual: "d", instance: "free" }),
      sampleResult("warning", "ERR-1", "Errors", { expected: "c", actual: "e", instance: "pro" }),
      sampleResult("note", "ERR-2", "Errors", { expected: "c", actual: "d" }),
      sampleResult("observed", "ERR-3", "Errors", { reason: "answers 404" }),
      sampleResult("error", "ERR-4", "Errors", { reason: "TypeError: x is undefined" }),
    ],
    { verdict: "nonconformant" },
  ),
  partial: withEvidence(
    [
      passed,
      sampleResult("skipped", "SSE-15", "Stream", { reason: "needs an agent that fails", needs: "agents.failing" }),
      sampleFinding({ clause: "SSE-16", outcome: "skipped", reason: "the control did not hold" }),
    ],
    { verdict: "partial" },
  ),
  interrupted: withEvidence([passed, sampleFinding({ clause: "SSE-6", outcome: "skipped", reason: "interrupted" })], {
    verdict: "incomplete",
    stopped: "interrupted",
  }),
  unreachable: withEvidence([sampleFinding({ outcome: "skipped", reason: "nothing could be judged" })], {
    verdict: "unreachable",
    stopped: "No answer from http://127.0.0.1:9/v1: connect ECONNREFUSED. Is the server running?",
  }),
  "without evidence": { ...withEvidence([failed], { verdict: "nonconformant" }), evidence: null },
  "of nothing": withEvidence([], { verdict: "partial" }),
  load: {
    report: sampleReport(
      [
        sampleFinding({
          clause: "LIM-1",
          ...trialFields("minute-limit", "pro", "k6"),
          outcome: "fail",
          expected: "200",
          actual: "201",
          witness,
          evidence: ["load/minute-limit-pro-k6.json"],
        }),
        sampleFinding({
          clause: "load/slow-refusals",
          ...trialFields("minute-limit", "pro", "k6"),
          level: "load",
          outcome: "fail",
          expected: "fast",
          actual: "slow",
        }),
        sampleFinding({
          clause: "LIM-2",
          ...trialFields("burst", "pro", "autocannon"),
          evidence: ["load/burst-pro-autocannon.json"],
        }),
      ],
      {
        verdict: "nonconformant",
        load: {
          runs: [
            sampleLoadRun(),
            sampleLoadRun({
              scenario: "burst",
              engine: "autocannon",
              evidence: "load/burst-pro-autocannon.json",
              validity: { invalid: null, counts: null, pace: "31 requests were late" },
            }),
          ],
        },
      },
    ),
    evidence: null,
    load: new Map(),
  },
} satisfies Readonly<Record<string, ReportDocument>>;
