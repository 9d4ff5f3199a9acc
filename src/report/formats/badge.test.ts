import { describe, expect, it } from "vitest";

import { badgeEndpoint, renderBadge } from "./badge.ts";
import { sampleReportsByKind } from "./testing/sample-reports-by-kind.ts";

describe("badges", () => {
  const now = new Date("2030-03-01T00:00:00Z");

  it.each([
    ["conformant", "conformance", "conformant, 2 checks passed, 2030-01-01", "brightgreen"],
    ["broken", "conformance", "nonconformant, 2 clauses broken, 2030-01-01", "red"],
    ["partial", "conformance", "partial, 0 % of must clauses exercised, 2030-01-01", "yellow"],
    ["interrupted", "conformance", "incomplete, 0 % of must clauses exercised, 2030-01-01", "lightgrey"],
    ["load", "conformance under load", "nonconformant, 2 clauses broken, 2030-01-01", "red"],
  ] as const)("show the verdict and counts of a report that is %s", (kind, label, message, color) => {
    expect(JSON.parse(badgeEndpoint(sampleReportsByKind[kind], { now }))).toEqual({
      schemaVersion: 1,
      label,
      message,
      color,
    });
    expect(renderBadge(sampleReportsByKind[kind], { now })).toContain(`aria-label="${label}: ${message}"`);
  });

  it("say that a report is older than 90 days, or than its statement counts", () => {
    const later = { now: new Date("2030-04-02T00:00:00Z") };
    expect(JSON.parse(badgeEndpoint(sampleReportsByKind.broken, later))).toMatchObject({
      message: "expired on 2030-04-01",
      color: "lightgrey",
    });
    expect(renderBadge(sampleReportsByKind.conformant, { now, signing: { validDays: 30 } })).toContain(
      "expired on 2030-01-31",
    );
  });
});
