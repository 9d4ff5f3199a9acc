import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { type Report, reportSchema } from "../report/model/report.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "fail-fast-"));
const conformance = commandLineIn(folder);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the checks of two sections against a server with a fault. */
async function failFast(
  fault: string,
  ...flags: string[]
): Promise<{ readonly code: number; readonly report: Report }> {
  const selection = ["--only", "INV-*", "--only", "HLT-*"];
  const { code } = await conformance(["run", "--fail-fast", "--fault", fault, ...selection, "--out", "it", ...flags]);
  return { code, report: reportSchema.parse(JSON.parse(readFileSync(join(folder, "it", "report.json"), "utf8"))) };
}

describe("run --fail-fast", async () => {
  const stopped = await failFast("missing-query-other-code");

  it("stops at the first must clause that is broken, and the report says so", () => {
    const { code, report } = stopped;
    expect([code, report.verdict, report.stopped]).toEqual([
      1,
      "nonconformant",
      "the first broken must clause is INV-10",
    ]);
    const skipped = report.findings.filter(({ clause, outcome }) => clause.startsWith("HLT-") && outcome === "skipped");
    expect(skipped.map(({ reason }) => reason)).toContain(
      "the run was stopped: the first broken must clause is INV-10",
    );
  });

  it("goes on after a known failure", async () => {
    const known = ["INV-10", "INV-10/in a session", "INV-10/in a session that has begun", "INV-10/every"];
    const entries = known.map((check) => ({ check, reason: "mended in 2.3" }));
    writeFileSync(join(folder, "baseline.json"), JSON.stringify({ known: entries }));
    const { code, report } = await failFast("missing-query-other-code", "--baseline", "baseline.json");
    expect([code, report.stopped]).toEqual([0, undefined]);
  });

  it("goes on after a should clause that is broken", async () => {
    const { code, report } = await failFast("max-tokens-ignored");
    expect([code, report.totals.warning > 0, report.stopped]).toEqual([0, true, undefined]);
  });
});
