import { describe, expect, it } from "vitest";

import { sampleFinding } from "../testing/sample.ts";
import { applyBaseline, baselineOf, defaultPolicy, testStatusesOf } from "./failure-policy.ts";

const broken = sampleFinding({ check: "SSE-5", outcome: "fail" });
const passed = sampleFinding({ check: "SSE-5", outcome: "pass" });
const entry = { check: "SSE-5", reason: "fixed in 2.3" };
const now = new Date("2026-05-01T12:00:00Z");

describe("a known failure", () => {
  it.each([
    ["excuses its finding", entry, broken, { excused: 1, stale: 0, expired: 0 }],
    ["that no longer occurs is stale", entry, passed, { excused: 0, stale: 1, expired: 0 }],
    ["that is flaky may pass", { ...entry, flaky: true }, passed, { excused: 0, stale: 0, expired: 0 }],
    ["that is flaky excuses its finding", { ...entry, flaky: true }, broken, { excused: 1, stale: 0, expired: 0 }],
    ["counts on its last day", { ...entry, until: "2026-05-01" }, broken, { excused: 1, stale: 0, expired: 0 }],
    ["excuses nothing after it", { ...entry, until: "2026-04-30" }, broken, { excused: 0, stale: 0, expired: 1 }],
    ["is not stale after it", { ...entry, until: "2026-04-30" }, passed, { excused: 0, stale: 0, expired: 1 }],
  ])("%s", (_, known, finding, expected) => {
    const { excused, stale, expired } = applyBaseline([finding], [known], now);
    expect({ excused: excused.length, stale: stale.length, expired: expired.length }).toEqual(expected);
  });

  it("has the reason of the entry that still counts", () => {
    const baseline = [{ check: "SSE-5", reason: "fixed in 2.2", until: "2020-01-01" }, entry];
    const { of: statusOf } = testStatusesOf([broken], { ...defaultPolicy, baseline });
    expect(statusOf(broken)).toEqual({ kind: "known", reason: "fixed in 2.3" });
  });

  it("is written for each failure of a report, and nothing else", () => {
    const warning = sampleFinding({ check: "HLT-14", outcome: "warning" });
    const ofTier = sampleFinding({ check: "LIM-1", outcome: "fail", instance: "free" });
    const baseline = baselineOf([broken, passed, warning, ofTier]);
    expect(baseline.map(({ check, instance }) => [check, instance])).toEqual([
      ["SSE-5", undefined],
      ["LIM-1", "free"],
    ]);
    expect(applyBaseline([broken, ofTier], baseline, now).excused).toEqual([broken, ofTier]);
  });
});
