import { describe, expect, it } from "vitest";

import type { ReportFinding } from "../model/finding.ts";
import { sampleFinding } from "../testing/sample.ts";
import { compareVendors } from "./comparison.ts";
import { renderVendorsMarkdown } from "./markdown.ts";
import { vendorTables } from "./tables.ts";
import { sampleVendor } from "./testing/vendors.ts";

const createdAt = "2030-01-01T00:00:00.000Z";
const fails = (clause: string, level: ReportFinding["level"] = "must"): ReportFinding =>
  sampleFinding({ clause, level, outcome: "fail", expected: "a", actual: "b" });

describe("the table of broken must clauses", () => {
  const all = compareVendors(
    [
      sampleVendor("A", [sampleFinding(), fails("USE-1"), fails("INV-3"), fails("INV-4"), fails("SVC-1", "should")]),
      sampleVendor("B", [sampleFinding(), sampleFinding({ clause: "USE-1" }), fails("INV-3"), fails("INV-4")]),
    ],
    createdAt,
  );
  const rowsOf = (id: string): string[] =>
    vendorTables(all)
      .filter((table) => table.id === id)
      .flatMap(({ groups }) => groups.flatMap(({ rows }) => rows.map(({ name }) => name)));

  it("comes before all other clauses, with the worst for a client first", () => {
    expect(rowsOf("broken")).toEqual(["INV-3", "INV-4", "USE-1"]);
    expect(rowsOf("clauses")).toEqual(["SVC-1", "SSE-5"]);
  });

  it("has clauses that every vendor breaks, also in Markdown", () => {
    expect(renderVendorsMarkdown(all)).toMatch(/## Broken must clauses[^]*\*\*INV-3\*\*[^]*## Limits/);
  });
});
