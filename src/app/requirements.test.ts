import { beforeAll, describe, expect, it } from "vitest";

import { cliMessages } from "../cli/messages.ts";
import { judgedRun } from "../cli/testing/judged-session.ts";
import { testResultOf } from "../library/vitest/test-result.ts";
import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { annotationLines } from "../report/formats/annotations.ts";
import { badgeEndpoint } from "../report/formats/badge.ts";
import { renderCtrf } from "../report/formats/ctrf.ts";
import { renderJunit } from "../report/formats/junit.ts";
import { renderMarkdown } from "../report/formats/markdown.ts";
import { renderHtml } from "../report/html/render-html.ts";
import { contradictionInReport, readReport, serializeReport } from "../report/model/report-file.ts";
import type { ReportDocument } from "../report/model/report.ts";
import { narrowReport } from "../report/model/requirements.ts";
import { runExitCode } from "../report/model/verdict.ts";
import { statementOf } from "../report/statement/statement.ts";
import { renderTerminal } from "../report/terminal/render-terminal.ts";
import { check, type Suite, suite } from "../run/judge/check.ts";
import { breach, holds } from "../run/judge/finding.ts";
import { probe } from "../run/probe.ts";
import { unselectedMusts } from "../run/plan/selection.ts";
import type { RequirementSet } from "../spec/clause.ts";
import { documentOf } from "./report-folder/saved-report.ts";
import { rejudgeRun } from "./rejudge.ts";
import { parseRequirements } from "./requirements.ts";

const looked = probe("looked", { requests: 0 }, () => Promise.resolve({}));
const neverRun = probe("only of a later run", { requests: 0 }, () => Promise.resolve({}));
/** Two checks of the same evidence: one of set 1.0 that passes, and a stricter one of set 1.1 that fails. */
const now = check("INV-1", looked, holds);
const later = check("INV-1", looked, () => breach("three pages", "two pages"), { as: "page-3", since: "1.1" });
const both = [suite("Invoke", [now, later])];

async function runBy(requirements: RequirementSet, suites: readonly Suite[] = both): Promise<ReportDocument> {
  const { target, close } = await startEmbedded();
  const { report, evidence } = await judgedRun({ target, suites, requirements });
  await close();
  return documentOf(report, evidence);
}

const strictest = { strict: true, complete: true } as const;

describe("a check of requirement set 1.1", () => {
  let old: ReportDocument;
  let newest: ReportDocument;
  beforeAll(async () => {
    old = await runBy("1.0");
    newest = await runBy("1.1");
  });

  it("breaks the run by 1.1", () => {
    expect(newest.report).toMatchObject({ verdict: "nonconformant", upcoming: [], suite: { requirements: "1.1" } });
    expect(runExitCode(newest.report)).toBe(1);
  });

  it("runs, is upcoming and cannot turn the verdict by 1.0", () => {
    const { report } = old;
    expect(report).toMatchObject({ verdict: "conformant", suite: { requirements: "1.0" } });
    expect(report.findings.map((each) => each.check)).toEqual(["INV-1"]);
    expect(report.upcoming).toMatchObject([
      { check: "INV-1/page-3", since: "1.1", outcome: "fail", expected: "three pages", actual: "two pages" },
    ]);
    expect(report.totals).toMatchObject({ pass: 1, fail: 0, skipped: 0 });
    expect(runExitCode(report, strictest)).toBe(0);
  });

  it("leaves no must clause unselected by 1.0 if only it was not selected", () => {
    const withoutLater = [suite("Invoke", [now])];
    const onlyLater = [suite("Invoke", [check("INV-2", looked, holds, { since: "1.1" }), now])];
    expect(unselectedMusts(onlyLater, withoutLater, "1.1")).toEqual(["INV-2"]);
    expect(unselectedMusts(onlyLater, withoutLater, "1.0")).toEqual([]);
  });

  it("is skipped in JUnit and CTRF, a notice on GitHub, and in a section of its own elsewhere", () => {
    const says = /upcoming, counts from requirement set 1\.1: fail, expected three pages; got two pages/;
    expect(renderJunit(old)).toMatch(/<testsuites [^>]*failures="0" errors="0"/);
    expect(renderJunit(old)).toMatch(new RegExp(`<skipped message="${says.source}`));
    expect(JSON.parse(renderCtrf(old))).toMatchObject({
      results: { summary: { failed: 0, skipped: 1 }, extra: { requirements: "1.0" } },
    });
    expect(annotationLines(old)).toEqual([
      expect.stringMatching(/^::notice title=INV-1\/page-3 \(upcoming\)::upcoming/),
    ]);
    const terminal = renderTerminal(old.report, old.evidence, { colour: false, width: 300, quiet: false });
    expect(terminal).toContain("Upcoming  1 check not in requirement set 1.0, so not counted: 1 fail");
    expect(terminal).toMatch(/conformant: .*judged by requirement set 1\.0/);
    expect(renderMarkdown(old)).toMatch(/### Upcoming\n[^]*expected three pages/);
    expect(renderHtml(old)).toContain("Upcoming");
  });

  it("is neither in the statement nor in the badge, which are of set 1.0", () => {
    const statement = statementOf(old, {});
    expect(statement).toMatchObject({ verdict: "conformant", suite: { requirements: "1.0" }, exceptions: [] });
    expect(badgeEndpoint(old)).toMatch(/conformant, 1 check passed/);
  });

  it("is a skipped test in vitest", () => {
    const { report, evidence } = old;
    const judged = { verdict: report.verdict, report, evidence: evidence ?? never(), document: old };
    expect(testResultOf("INV-1/page-3", judged, { strict: true, baseline: [] })).toMatchObject({
      kind: "skipped",
      reason: expect.stringMatching(/^upcoming/) as string,
    });
  });

  it("counts no longer if a report of 1.1 is shown by 1.0", () => {
    const { durationMs: _, started: _1, finished: _2, target: _3, ...shown } = narrowReport(newest.report, "1.0");
    const { verdict, totals, findings, upcoming } = old.report;
    expect(shown).toMatchObject({ verdict, totals, findings, upcoming });
    expect(() => narrowReport(old.report, "1.1")).toThrow(/judged by requirement set 1\.0.*rejudge/);
  });

  it("is skipped where saved evidence lacks its probe, so that nothing is conformant by 1.1 unexercised", () => {
    const { report, evidence } = old;
    const unseen = [suite("Invoke", [now, check("INV-2", neverRun, holds, { since: "1.1" })])];
    const again = (requirements: RequirementSet) =>
      rejudgeRun(report, evidence ?? never(), cliMessages, { requirements, selected: unseen });
    expect(again("1.0")).toMatchObject({ verdict: "conformant", upcoming: [{ outcome: "skipped" }] });
    expect(again("1.1")).toMatchObject({ verdict: "partial", upcoming: [] });
  });
});

describe("a report", () => {
  it("of a version without sets was judged by 1.0", async () => {
    const { report } = await runBy("1.0", [suite("Invoke", [now])]);
    const { upcoming: _, suite: judged, ...rest } = report;
    const { requirements: _1, ...suiteBefore } = judged;
    expect(readReport(JSON.stringify({ ...rest, suite: suiteBefore }), "report.json")).toEqual(report);
    expect(readReport(serializeReport(report), "report.json")).toEqual(report);
  });

  it("that hides a check of its set among the upcoming ones contradicts itself", async () => {
    const { report } = await runBy("1.1");
    const [, broken] = report.findings;
    const hidden = { ...narrowReport(report, "1.0"), suite: report.suite };
    expect(broken?.outcome).toBe("fail");
    expect(contradictionInReport(hidden)).toMatch(/calls INV-1\/page-3 upcoming, which requirement set 1\.1 has/);
  });
});

describe("the name of a requirement set", () => {
  it("is the newest by default", () => {
    expect(parseRequirements(undefined, "requirements")).toBe("1.2");
    expect(parseRequirements("1.0", "requirements")).toBe("1.0");
  });

  it.each(["0.9", "", 1, null])("is refused if there is no such set: %j", (given) => {
    expect(() => parseRequirements(given, "requirements")).toThrow(/is no requirement set\. Known: 1\.0, 1\.1, 1\.2\./);
  });
});

function never(): never {
  throw new Error("the run has evidence");
}
