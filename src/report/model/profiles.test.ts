import { describe, expect, it } from "vitest";

import { sampleFinding } from "../testing/sample.ts";
import { formatLimitVerdict, limitVerdicts } from "./profiles.ts";
import type { ReportFinding } from "./finding.ts";

const finding = (check: string, more: Partial<ReportFinding>): ReportFinding =>
  sampleFinding({ check, clause: check.split("/")[0] ?? check, instance: "free", ...more });

describe("the rate limits that a run tested", () => {
  it.each<[string, ReportFinding, { readonly kind: string; readonly says: string } | null]>([
    ["a minute that was kept", finding("LIM-1", { outcome: "pass" }), { kind: "kept", says: "kept" }],
    ["an hour that was skipped", finding("LIM-3", { outcome: "skipped" }), { kind: "not proven", says: "not proven" }],
    [
      "a minute that admits a tenth more",
      finding("LIM-1", { outcome: "fail", excessPercent: 10 }),
      { kind: "exceeded", says: "exceeded by at most 10 %" },
    ],
    [
      "an excess that cannot be told",
      finding("LIM-1", { outcome: "fail" }),
      { kind: "exceeded", says: "exceeded by an unknown amount" },
    ],
    ["another check of the clause", finding("LIM-1/every key", { outcome: "pass" }), null],
    ["another clause", finding("LIM-2", { outcome: "pass" }), null],
  ])("%s", (_, row, expected) => {
    const found = limitVerdicts([row]).map((limit) => ({ kind: limit.kind, says: formatLimitVerdict(limit) }));
    expect(found).toEqual(expected === null ? [] : [expected]);
  });
});
