import { validateStrict } from "ctrf";
import { describe, expect, it } from "vitest";

import { whyNothingJudged } from "../model/verdict.ts";
import { renderCtrf } from "./ctrf.ts";
import { sampleReportsByKind } from "./testing/sample-reports-by-kind.ts";

interface Read {
  readonly results: {
    readonly summary: Readonly<Record<string, number>>;
    readonly tests: readonly {
      readonly name: string;
      readonly status: string;
      readonly message?: string;
      readonly trace?: string;
    }[];
  };
}

const read = (text: string): Read => JSON.parse(text) as Read;

/** Throws if a text does not match the JSON schema of CTRF. */
const demandValid = (text: string): void => validateStrict(JSON.parse(text));

describe("CTRF", () => {
  it.each(Object.entries(sampleReportsByKind))(
    "matches its schema, with right sums, for a report that is %s",
    (_, document) => {
      const text = renderCtrf(document);
      demandValid(text);
      const { summary, tests } = read(text).results;
      const unjudged = whyNothingJudged(document.report) === null ? 0 : 1;
      expect(summary["tests"]).toBe(document.report.findings.length + unjudged);
      for (const status of ["passed", "failed", "skipped", "other"])
        expect(summary[status]).toBe(tests.filter((each) => each.status === status).length);
    },
  );

  it.each([
    ["SSE-4", "passed"],
    ["SSE-5", "failed"],
    ["ERR-1 (free)", "passed"],
    ["ERR-2", "passed"],
    ["ERR-3", "passed"],
    ["ERR-4", "other"],
  ])("%s is %s", (name, status) => {
    const { tests } = read(renderCtrf(sampleReportsByKind.broken)).results;
    expect(tests.find((each) => each.name.startsWith(name))?.status).toBe(status);
  });

  it("has the actual result of a failure, and the exchange", () => {
    const failed = read(renderCtrf(sampleReportsByKind.broken)).results.tests.find(({ status }) => status === "failed");
    expect(failed?.message).toBe("expected one end; got two ends");
    expect(failed?.trace).toContain("> POST http://127.0.0.1:8080/v1/agents/echo/invoke");
  });

  it("fails for strict warnings and stale entries, and not for known failures", () => {
    const baseline = [
      { check: "SSE-5", reason: "fixed in 2.3" },
      { check: "SSE-4", reason: "was broken" },
    ];
    const text = renderCtrf(sampleReportsByKind.broken, { strict: true, baseline });
    demandValid(text);
    // Four failures: HOOK-1, a warning in each of two tiers, and a known failure that no longer occurs.
    expect(read(text).results.summary).toMatchObject({ failed: 4, skipped: 1, tests: 9 });
  });
});
