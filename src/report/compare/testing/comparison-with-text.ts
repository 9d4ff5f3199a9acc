import type { Report, ReportFinding } from "../../model/report.ts";
import { sampleFinding, sampleLoadRun, sampleReport } from "../../testing/sample.ts";
import { compareReports } from "../compare-reports.ts";
import type { Comparison } from "../comparison.ts";
import { type RegressionKind, regressionKinds } from "../regression-rules.ts";

const allRegressionKinds = new Set(Object.keys(regressionKinds) as RegressionKind[]);
const compareStrictly = (older: Report, newer: Report): Comparison =>
  compareReports(
    { report: older },
    { report: newer },
    { kinds: allRegressionKinds, tolerances: { latency: 0.1, throughput: 0.1, memory: 0.1 } },
  );

/** Compares a passed run with a broken one. Every free text in both is `text`. */
export const comparisonWithText = (text: string): Comparison => {
  const row = (outcome: ReportFinding["outcome"], words: string): ReportFinding[] => [
    sampleFinding({ clause: "INV-1", outcome, expected: words, actual: words, reason: words, instance: words }),
    sampleFinding({ clause: "SSE-5", check: words, reading: `${words}${outcome}` }),
    sampleFinding({ clause: "INV-19", level: "gap", outcome: "observed", reason: `${words}${outcome}` }),
  ];
  const side = (name: string, outcome: ReportFinding["outcome"]): Report => {
    const { target } = sampleReport([]);
    return sampleReport(row(outcome, text), {
      target: { ...target, name, baseUrl: text },
      stopped: text,
      load: { runs: [sampleLoadRun({ scenario: text, validity: { invalid: text, counts: null, pace: null } })] },
    });
  };
  return compareStrictly(side("Acme", "pass"), side(text, "fail"));
};
