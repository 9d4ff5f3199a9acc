import { describe, expect, it } from "vitest";

import { judge } from "../judge.ts";
import { testResultOf } from "./test-result.ts";

const lenient = { strict: false, baseline: [] };
const known = (check: string) => ({ strict: false, baseline: [{ check, reason: "fixed in 2.3" }] });

describe("what a test says of its check", async () => {
  const options = { only: ["INV-2", "INV-3", "HLT-1", "AUTH-7", "LIM-1"] };
  const judged = await judge({ embedded: true, faults: ["result-is-text"] }, options);
  const readOnly = await judge({ embedded: true }, { ...options, readOnly: true });

  it("shows a breach with its exchange and a command that sends it again, and no key", () => {
    const telling = testResultOf("INV-2", judged, lenient);
    if (telling.kind !== "failed") throw new Error(telling.kind);
    expect(telling.message).toMatch(
      /expected {2}.*\n +actual .*\n[^]*> POST [^]*< 200[^]*curl -i .*\n.*"Authorization: Bearer \$\w+_KEY"/,
    );
  });

  it("passes what holds, and notes what was observed", () => {
    expect(testResultOf("HLT-1", judged, lenient)).toEqual({ kind: "passed", notes: [] });
    expect(testResultOf("AUTH-7", judged, lenient)).toEqual({
      kind: "passed",
      notes: [expect.stringMatching(/^observed: /)],
    });
  });

  it("skips what was not exercised, with the reason", () => {
    expect(testResultOf("INV-2", readOnly, lenient)).toEqual({
      kind: "skipped",
      reason: expect.stringMatching(/GET|read-only|--read-only/),
    });
    expect(testResultOf("SSE-1", judged, lenient)).toEqual({
      kind: "skipped",
      reason: "the run has no row of this check",
    });
  });

  it("skips a known failure, and fails one that no longer fails", () => {
    expect(testResultOf("INV-2", judged, known("INV-2"))).toEqual({
      kind: "skipped",
      reason: "known to fail: fixed in 2.3",
    });
    const stale = testResultOf("HLT-1", judged, known("HLT-1"));
    expect(stale).toEqual({
      kind: "failed",
      message: "Stale baseline: HLT-1 no longer fails (fixed in 2.3). Take it out.",
    });
  });

  it("lets a warning pass with a note, unless warnings count", () => {
    const report = {
      ...judged.document.report,
      findings: [
        {
          check: "HOOK-30",
          clause: "HOOK-30",
          suite: "x",
          level: "should",
          outcome: "warning",
          expected: "a",
          actual: "b",
        } as const,
      ],
    };
    const warned = { ...judged, document: { ...judged.document, report } };
    expect(testResultOf("HOOK-30", warned, lenient)).toEqual({ kind: "passed", notes: ["warning: expected a; got b"] });
    expect(testResultOf("HOOK-30", warned, { ...lenient, strict: true }).kind).toBe("failed");
  });

  it("does not blame the target for a failure of the harness", () => {
    const findings = [
      { check: "INV-2", clause: "INV-2", suite: "x", level: "must", outcome: "error", reason: "boom" } as const,
    ];
    const failed = { ...judged, document: { ...judged.document, report: { ...judged.document.report, findings } } };
    expect(testResultOf("INV-2", failed, lenient)).toMatchObject({
      message: expect.stringContaining("not the target's fault: boom"),
    });
  });
});
