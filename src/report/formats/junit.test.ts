import { describe, expect, it } from "vitest";

import { whyNothingJudged } from "../model/verdict.ts";
import { renderJunit } from "./junit.ts";
import { findJunitCase, junitSchemaErrors, parseJunit, junitSuites } from "./testing/read-formats.ts";
import { sampleReportsByKind } from "./testing/sample-reports-by-kind.ts";

describe("JUnit XML", () => {
  it.each(Object.entries(sampleReportsByKind))(
    "is valid for CI systems, for a report that is %s",
    async (_, document) => {
      const xml = renderJunit(document);
      expect(await junitSchemaErrors(xml)).toEqual([]);
      const suites = junitSuites(xml);
      expect(suites.flatMap(({ testcase }) => testcase)).toHaveLength(
        document.report.findings.length + (whyNothingJudged(document.report) === null ? 0 : 1),
      );
      for (const { testcase, tests, failures, errors, skipped } of suites) {
        expect(Number(tests)).toBe(testcase.length);
        expect(Number(failures)).toBe(testcase.filter((each) => each.failure !== undefined).length);
        expect(Number(errors)).toBe(testcase.filter((each) => each.error !== undefined).length);
        expect(Number(skipped)).toBe(testcase.filter((each) => each.skipped !== undefined).length);
      }
    },
  );

  it("has expected, actual, exchange and command of a failure", () => {
    const xml = renderJunit(sampleReportsByKind.broken);
    const failure = findJunitCase(xml, "SSE-5")?.failure;
    expect(failure).toMatchObject({ type: "must", message: "expected one end; got two ends" });
    expect(failure?.text).toContain("> POST http://127.0.0.1:8080/v1/agents/echo/invoke");
    expect(failure?.text).toContain('-H "Authorization: Bearer $CONFORMANCE_API_KEY"');
    expect(findJunitCase(xml, "SSE-5")?.classname).toBe("conformance.Stream");
  });

  it.each([
    ["SSE-4", {}],
    ["ERR-1 (free)", { "system-out": expect.stringContaining("warning") }],
    ["ERR-2", { "system-out": expect.stringContaining("note") }],
    ["ERR-3", { "system-out": "observed  answers 404" }],
    ["ERR-4", { error: expect.objectContaining({ message: "TypeError: x is undefined" }) }],
  ])("says of %s what came of it", (name, expected) => {
    expect(findJunitCase(renderJunit(sampleReportsByKind.broken), name)).toMatchObject(expected);
  });

  it("says why a check was skipped, and what would enable it", () => {
    const skipped = findJunitCase(renderJunit(sampleReportsByKind.partial), "SSE-15")?.skipped;
    expect(skipped?.message).toBe("needs an agent that fails; enabled by agents.failing");
  });

  it("fails for strict warnings and stale entries, and not for known failures", async () => {
    const baseline = [
      { check: "SSE-5", reason: "fixed in 2.3" },
      { check: "SSE-4", reason: "was broken" },
    ];
    const xml = renderJunit(sampleReportsByKind.broken, { strict: true, baseline });
    expect(await junitSchemaErrors(xml)).toEqual([]);
    expect(findJunitCase(xml, "SSE-5")?.skipped?.message).toBe("known failure: fixed in 2.3");
    expect(findJunitCase(xml, "ERR-1 (pro)")?.failure?.type).toBe("should");
    expect(junitSuites(xml).at(-1)).toMatchObject({ name: "Baseline", failures: "1" });
    // Four failures: HOOK-1, a warning in each of two tiers, and a known failure that no longer occurs.
    expect(parseJunit(xml).testsuites).toMatchObject({ failures: "4", tests: "9" });
  });
});
