import { describe, expect, it } from "vitest";

import { badgeEndpoint, renderBadge } from "./badge.ts";
import { sampleReportsByKind } from "./testing/kinds.ts";

describe("badges", () => {
  it.each([
    ["conformant", "conformance", "conformant, 2 checks passed", "brightgreen"],
    ["broken", "conformance", "nonconformant, 2 clauses broken", "red"],
    ["partial", "conformance", "partial, 1 check passed, 2 clauses not exercised", "yellow"],
    ["interrupted", "conformance", "incomplete, 1 check passed", "lightgrey"],
    ["load", "conformance under load", "nonconformant, 2 clauses broken", "red"],
  ] as const)("show the verdict and counts of a report that is %s", (kind, label, message, color) => {
    expect(JSON.parse(badgeEndpoint(sampleReportsByKind[kind]))).toEqual({ schemaVersion: 1, label, message, color });
    expect(renderBadge(sampleReportsByKind[kind])).toContain(`aria-label="${label}: ${message}"`);
  });
});
