import { describe, expect, it } from "vitest";

import { newestRequirements } from "../../spec/clause.ts";
import type { LoadRun } from "../model/load-results.ts";
import type { ReportFinding } from "../model/finding.ts";
import type { Report } from "../model/report.ts";
import { sampleFinding, sampleLoadRun, sampleReport } from "../testing/sample.ts";
import { compareReports, hasCommonFindings } from "./compare-reports.ts";
import type { Comparison } from "./comparison.ts";
import { parseRegressionRules } from "./regression-rules.ts";

const compare = (older: Report, newer: Report, list = "default"): Comparison =>
  compareReports({ report: older }, { report: newer }, parseRegressionRules(list));

const one = (finding: Partial<ReportFinding>, report: Partial<Report> = {}): Report =>
  sampleReport([sampleFinding(finding)], report);
const says = (found: Comparison): string[] => found.regressions.map(({ kind }) => kind);

describe("what counts as a regression", () => {
  const failing = { outcome: "fail", expected: "a", actual: "b" } as const;
  const skipped = { outcome: "skipped", reason: "no key" } as const;

  it.each<[string, Partial<ReportFinding>, Partial<ReportFinding>, string[]]>([
    ["failing", {}, failing, ["failing"]],
    ["failing", skipped, failing, ["failing"]],
    ["failing", { ...failing, outcome: "warning" }, failing, ["failing"]],
    ["failing", failing, { ...failing, actual: "c" }, []],
    ["default", {}, { outcome: "warning", level: "should" }, ["warning"]],
    ["default", {}, { outcome: "note", level: "advisory" }, []],
    ["note", {}, { outcome: "note", level: "advisory" }, ["note"]],
    ["default", {}, { outcome: "error", reason: "TypeError" }, ["error"]],
    ["default", {}, skipped, ["skipped-must"]],
    ["default", failing, skipped, ["skipped-must"]],
    ["default", { outcome: "error" }, skipped, []],
    ["default", {}, { ...skipped, level: "should" }, []],
    ["skipped", {}, { ...skipped, level: "should" }, ["skipped"]],
    ["skipped", {}, skipped, ["skipped-must"]],
    ["default", { reading: "form-a" }, { reading: "form-b" }, []],
    ["reading", { reading: "form-a" }, { reading: "form-b" }, ["reading"]],
    ["observation", { outcome: "observed", reason: "404" }, { outcome: "observed", reason: "405" }, ["observation"]],
    ["observation", { outcome: "observed", reason: "3 s" }, { outcome: "observed", reason: "4 s" }, []],
    ["none", {}, failing, []],
  ])("%s: %o, then %o: %j", (list, was, is, kinds) => {
    expect(says(compare(one(was), one(is), list))).toEqual(kinds);
  });

  it("is a check that the older report does not have, if only `new-check` counts", () => {
    const newer = sampleReport([sampleFinding({}), sampleFinding({ clause: "SSE-6", ...failing })]);
    expect(says(compare(one({}), newer))).toEqual([]);
    expect(says(compare(one({}), newer, "new-check"))).toEqual(["new-check"]);
  });

  it("is a worse verdict, if `verdict` counts", () => {
    const [fine, part] = [one({}), one({}, { verdict: "partial" })];
    expect(compare(fine, part, "verdict").regressions[0]?.says).toBe("the verdict was conformant and is partial");
    expect(says(compare(part, fine, "verdict"))).toEqual([]);
  });
});

const pairsBy = (seed: number): NonNullable<Report["pairs"]> => ({
  covered: 0,
  reachable: 0,
  total: 0,
  cut: [],
  unseen: [],
  seed,
});

describe("a finding that only one report has", () => {
  const both = [sampleFinding({}), sampleFinding({ clause: "SSE-6", instance: "free" })];
  const gone = (newer: Report, list = "default"): Comparison => compare(sampleReport(both), newer, list);

  it.each<[string, Report, string, string[]]>([
    ["unselected", one({}, { unselected: ["SSE-6"] }), "unselected", []],
    ["unreached", one({}, { stopped: "interrupted", verdict: "incomplete" }), "unreached", ["skipped-must"]],
    [
      "not of the suite",
      one({}, { suite: { version: "0.2.0", clauses: "ffff", requirements: newestRequirements } }),
      "check",
      [],
    ],
    ["passed over in silence", one({}), "silent", ["skipped-must"]],
    [
      "of another tier",
      sampleReport([sampleFinding({}), sampleFinding({ clause: "SSE-6" })]),
      "instance",
      ["skipped-must"],
    ],
  ])("was %s", (_, newer, why, kinds) => {
    expect(gone(newer).gone).toMatchObject([{ check: "SSE-6", instance: "free", why }]);
    expect(says(gone(newer))).toEqual(kinds);
  });

  it("is no loss if its check repeats one that the other report has, and had no case to add", () => {
    const check = "SSE-6/every in requests of 1.1";
    const earlier = sampleFinding({ clause: "SSE-6", check: "SSE-6/every" });
    const older = sampleReport([earlier, sampleFinding({ clause: "SSE-6", check, since: "1.1" })]);
    const other = (row: ReportFinding, seed = 1): Comparison =>
      compare({ ...older, pairs: pairsBy(1) }, { ...sampleReport([row]), pairs: pairsBy(seed) });
    const skipped = sampleFinding({ clause: "SSE-6", check: "SSE-6/every", outcome: "skipped" });
    const found = other(earlier);
    expect([found.gone, says(found)]).toMatchObject([[{ check, why: "repeated" }], []]);
    expect(other(skipped).gone).toMatchObject([{ why: "silent" }]);
    expect(other(skipped, 2).gone).toMatchObject([{ why: "repeated" }]);
  });

  it("counts as left out if a selection left anything out and its clause has no row", () => {
    expect(gone(one({}, { unselected: ["INV-1"] })).gone).toMatchObject([{ why: "unselected" }]);
  });

  it("shows new and removed checks as a change of the suite", () => {
    const other = one(
      {},
      { suite: { version: "0.2.0", clauses: "0123456789abcdef", requirements: newestRequirements } },
    );
    expect(gone(other).changedSuite).toEqual({
      version: { was: "0.1.0", is: "0.2.0" },
      clauses: null,
      requirements: null,
      came: [],
      went: ["SSE-6"],
    });
    expect(gone(other).notes).toContain("Removed checks: SSE-6.");
    expect(gone(one({})).changedSuite).toBeNull();
  });

  it("is all there is if the two reports share no finding", () => {
    expect(hasCommonFindings(compare(one({}), one({ clause: "SSE-6" })))).toBe(false);
    expect(hasCommonFindings(compare(one({}), one({})))).toBe(true);
  });
});

describe("notes", () => {
  const target = one({}).target;

  it.each<[string, Report, RegExp]>([
    [
      "another target",
      one({}, { target: { ...target, name: "Other" } }),
      /^The targets are different: name Acme → Other\.$/,
    ],
    [
      "another address",
      one({}, { target: { ...target, baseUrl: "http://b/v1" } }),
      /may not be the same target: base URL .* → http:\/\/b\/v1\.$/,
    ],
    ["another server", one({}, { target: { ...target, fingerprint: "beef" } }), /fingerprint f00d → beef/],
    [
      "another suite",
      one({}, { suite: { version: "0.1.0", clauses: "ffff", requirements: newestRequirements } }),
      /suites are different \(clauses 0123456789abcdef → ffff\)/,
    ],
    [
      "an earlier report",
      one({}, { started: "2029-01-01T00:00:00.000Z" }),
      /NEW was started before the one given as OLD/,
    ],
    ["an interrupted run", one({}, { stopped: "interrupted" }), /newer run was stopped early \(interrupted\)/],
    ["hostile names", one({}, { target: { ...target, name: "a\u001b[31m\nb" } }), /Acme → a\\x1b\[31m b\./],
  ])("tell of %s", (_, newer, words) => {
    expect(compare(one({}), newer).notes).toEqual([expect.stringMatching(words)]);
  });
});

describe("load", () => {
  const load = (...runs: readonly Partial<LoadRun>[]): Report =>
    sampleReport([], { load: { runs: runs.map((run) => sampleLoadRun(run)) } });
  const slower = {
    latencyMs: { admitted: { count: 10, p50: 1.5, p90: 3, p99: 40.4, p999: 41, max: 41 }, refused: null },
  };

  it("is compared by scenario, tier and engine", () => {
    const found = compare(load({}, { scenario: "burst" }), load({}, { scenario: "soak" }));
    expect(new Set(found.loadFigures.map(({ scenario }) => scenario))).toEqual(new Set(["minute-limit"]));
    expect(found.loneTrials).toMatchObject({ older: [{ scenario: "burst" }], newer: [{ scenario: "soak" }] });
    expect(found.loadFigures.map(({ name }) => name)).toEqual([
      "admitted",
      "refused",
      "failed or unanswered",
      "sent per second",
      "admitted per second",
      "admitted p50",
      "admitted p99",
    ]);
  });

  it.each<[string, Partial<LoadRun>, string[]]>([
    ["default", slower, []],
    ["latency", slower, []],
    ["latency:15%", slower, ["minute-limit, pro, k6: admitted p50 1.3 ms → 1.5 ms (+20 %)"]],
    [
      "throughput",
      { perSecond: { sent: 1234, admitted: 500 } },
      ["minute-limit, pro, k6: admitted per second 1,000/s → 500/s (-50 %)"],
    ],
    ["throughput", { perSecond: { sent: 5000, admitted: 5000 } }, []],
    [
      "counts",
      { requests: { ...sampleLoadRun().requests, admitted: 1001 } },
      ["minute-limit, pro, k6: admitted 1,000 → 1,001 (+0.1 %)"],
    ],
    ["counts", { requests: { ...sampleLoadRun().requests, planned: 9, admitted: 9 } }, []],
    ["latency:1%", { ...slower, validity: { invalid: null, counts: null, pace: "late" } }, []],
    ["latency:1%", { ...slower, speed: 1 }, []],
  ])("%s: %o: %j", (list, run, sentences) => {
    expect(compare(load({}), load(run), list).regressions.map(({ says: text }) => text)).toEqual(sentences);
  });

  it("comes with notes on metrics that cannot be compared, and on noisy times", () => {
    const { notes } = compare(
      load({}),
      load({ validity: { invalid: "the engine dropped 3", counts: null, pace: null } }),
    );
    expect(notes).toEqual([
      "Metrics of minute-limit cannot be compared: of the newer: the engine dropped 3.",
      expect.stringMatching(/^Times of a single pair of runs are noisy/),
    ]);
  });

  it("gives mirrored changes if old and new are swapped", () => {
    const [there, back] = [compare(load({}), load(slower)), compare(load(slower), load({}))];
    const values = (found: Comparison) => found.loadFigures.map(({ name, was, is }) => ({ name, was, is }));
    expect(values(back)).toEqual(values(there).map(({ name, was, is }) => ({ name, was: is, is: was })));
  });
});

describe("reports of different requirement sets", () => {
  const by = (requirements: string) => ({ suite: { version: "0.1.0", clauses: "0123456789abcdef", requirements } });
  const later = sampleFinding({ clause: "SSE-6", since: "1.1", outcome: "fail", expected: "a", actual: "b" });
  const old = one({}, by("1.0"));
  const now = sampleReport([sampleFinding({}), later], { ...by("1.1"), verdict: "nonconformant" });

  it("say that the requirements changed, and not the target", () => {
    const found = compare(old, now);
    expect(found.appeared).toMatchObject([{ check: "SSE-6", why: "requirements" }]);
    expect(found.changedSuite).toMatchObject({ requirements: { was: "1.0", is: "1.1" }, came: [] });
    expect(found.notes).toEqual([
      "The older report was judged by requirement set 1.0, the newer by 1.1. By 1.0, the newer verdict is conformant. --requirements 1.0 compares both by it.",
      "1 finding not in the older report: its requirement set does not have these checks. The requirements changed there, not the target.",
    ]);
    expect(found.regressions).toEqual([]);
  });

  it("lose nothing when the newer one is of an earlier set", () => {
    const found = compare(now, old);
    expect(found.gone).toMatchObject([{ check: "SSE-6", why: "requirements" }]);
    expect(found.notes[0]).toContain("By 1.0, the older verdict is conformant.");
    expect(found.regressions).toEqual([]);
  });
});
