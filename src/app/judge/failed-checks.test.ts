import { describe, expect, it } from "vitest";

import type { ReportFinding } from "../../report/model/finding.ts";
import type { Report, ReportDocument } from "../../report/model/report.ts";
import { sampleExchange, sampleFinding, sampleReport } from "../../report/testing/sample.ts";
import { check, suite } from "../../run/judge/check.ts";
import { holds } from "../../run/judge/finding.ts";
import { probe } from "../../run/probe.ts";
import { failedChecks } from "./failed-checks.ts";

const [sender, other, review] = [
  probe("sender", { requests: 1 }, () => Promise.resolve([])),
  probe("other", { requests: 1 }, () => Promise.resolve([])),
  probe("review", { requests: 0, stage: "review" }, () => Promise.resolve([])),
];
const earlier = check("SSE-1", review, holds);
const suites = [
  suite("Stream", [
    earlier,
    { ...earlier, id: "SSE-1/in requests of 1.2", widens: earlier },
    check("SSE-2", sender, holds),
    check("SSE-3", other, holds),
  ]),
];

const [first, second] = [sampleExchange("x1"), sampleExchange("x2")];

const documentOf = (findings: readonly ReportFinding[], report: Partial<Report> = {}): ReportDocument => ({
  report: sampleReport(findings, report),
  evidence: {
    exchanges: [first, second],
    deliveries: [],
    probes: [
      { probe: "sender", instance: null, result: { kind: "ran", evidence: { sent: [first] } } },
      { probe: "other", instance: null, result: { kind: "ran", evidence: second } },
      { probe: "review", instance: null, result: { kind: "ran", evidence: [first, second] } },
      { probe: "gone", instance: null, result: { kind: "ran", evidence: [first] } },
    ],
  },
  load: new Map(),
});

const failed = (...findings: readonly Partial<ReportFinding>[]) =>
  failedChecks(documentOf(findings.map(sampleFinding)), suites, "reports/acme");

describe("the failed checks of a report", () => {
  it("are those with a breach of any level, and those that the harness failed to judge", () => {
    const outcomes = ["fail", "warning", "note", "error", "pass", "observed", "skipped"] as const;
    const ids = outcomes.map((outcome, index) => ({ check: `SSE-${index + 2}`, clause: `SSE-${index + 2}`, outcome }));
    expect(failed(...ids).only).toEqual(["SSE-2", "SSE-3", "SSE-4", "SSE-5"]);
  });

  it("are named once, by their clause if this version has no such check", () => {
    const { only } = failed(
      { check: "SSE-2", clause: "SSE-2", outcome: "fail", instance: "free" },
      { check: "SSE-2", clause: "SSE-2", outcome: "fail", instance: "pro" },
      { check: "SSE-3/of an older version", clause: "SSE-3", outcome: "fail" },
    );
    expect(only).toEqual(["SSE-2", "SSE-3"]);
  });

  it("bring the checks that they repeat for later requests", () => {
    const { only } = failed({ check: "SSE-1/in requests of 1.2", clause: "SSE-1", outcome: "fail" });
    expect(only).toEqual(["SSE-1/in requests of 1.2", "SSE-1"]);
  });

  it("bring the probes that had recorded their exchanges, and no others", () => {
    const { suites: completed } = failed({ check: "SSE-1", clause: "SSE-1", outcome: "fail", evidence: ["x1"] });
    const companions = completed.flatMap(({ checks }) =>
      checks.map((each) => each.companions?.map(({ name }) => name)),
    );
    expect(companions).toEqual([["sender"], undefined, undefined, undefined]);
  });

  it("bring the seed of the generated requests", () => {
    const counts = { covered: 1, reachable: 1, total: 1, cut: [] };
    const document = documentOf([sampleFinding({ check: "SSE-2", outcome: "fail" })], {
      pairs: { ...counts, unseen: [], seed: 7 },
    });
    expect(failedChecks(document, suites, "reports/acme").coverageSeed).toBe(7);
  });

  it("are looked for in vain in a report without failures", () => {
    expect(() => failed({ outcome: "pass" })).toThrow(
      "Nothing failed in reports/acme, so there is nothing to repeat. A whole run judges the rest.",
    );
  });

  it("cannot be repeated if a client or a receiver was judged", () => {
    for (const party of ["client", "receiver"] as const)
      expect(() =>
        failedChecks(documentOf([sampleFinding({ outcome: "fail" })], { party }), suites, "reports/acme"),
      ).toThrow("reports/acme is not the report of a run against a server, so no run can repeat it.");
  });
});
