import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import type { Report } from "../report/model/report.ts";
import type { FormattedPlan } from "./plan/plan-text.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "read-only-"));
const conformance = commandLineIn(folder);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("run --read-only", () => {
  it("judges what can be read, leaves nothing on the target, and says what it left out", async () => {
    const { code, out, err } = await conformance(["run", "--read-only", "--json", "-", "--out", "out"]);
    const report = JSON.parse(out) as Report;
    expect([code, report.verdict, report.created]).toEqual([0, "partial", []]);
    expect(report.totals.pass).toBeGreaterThan(40);
    expect(report.findings.find(({ check }) => check === "INV-1")).toMatchObject({
      outcome: "skipped",
      needs: "a run without `--read-only`",
    });
    expect(err).not.toContain("Left on the target");
  });

  it("is planned as it then runs: what the plan would skip for it, the run does skip", async () => {
    const plan = JSON.parse((await conformance(["plan", "--read-only", "--json"])).out) as FormattedPlan;
    const run = JSON.parse((await conformance(["run", "--read-only", "--json", "-", "--out", "out"])).out) as Report;
    const planned = plan.skipped.find(({ enabledBy }) => enabledBy === "a run without `--read-only`")?.checks ?? [];
    const skipped = run.findings.filter(({ needs }) => needs === "a run without `--read-only`");
    expect(new Set(planned).isSupersetOf(new Set(skipped.map(({ check }) => check)))).toBe(true);
    expect(skipped.length).toBeGreaterThan(100);
  });
});
