import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outcomes, type ReportFinding } from "../model/finding.ts";
import { sampleFinding, sampleReport } from "../testing/sample.ts";
import { compareReports, hasCommonFindings } from "./compare-reports.ts";
import type { Comparison, FindingChange, FindingChanges } from "./comparison.ts";
import { categorizeChange, isEquivalentText, windowKinds } from "./find-changes.ts";
import { findingKey } from "../model/finding-text.ts";
import { type RegressionKind, regressionKinds, type RegressionRules } from "./regression-rules.ts";
import type { LimiterShape } from "../../rules/limits/admission/models.ts";

const everything: RegressionRules = {
  kinds: new Set(Object.keys(regressionKinds) as RegressionKind[]),
  tolerances: { latency: 0, throughput: 0, memory: 0 },
};

const compare = (older: readonly ReportFinding[], newer: readonly ReportFinding[]): Comparison =>
  compareReports({ report: sampleReport(older) }, { report: sampleReport(newer) }, everything);

/**
 * Expected category of each change. The older outcome chooses the row, and the newer outcome the word in the row. Words are in the order
 * of `outcomes`: pass, fail, warning, note, observed, skipped, error.
 */
const table: Readonly<Record<ReportFinding["outcome"], string>> = {
  pass: "unchanged newlyFailing newlyFailing newlyFailing changedObservations newlySkipped newlyFailing",
  fail: "fixed stillFailing stillFailing stillFailing fixed newlySkipped newlyFailing",
  warning: "fixed newlyFailing stillFailing stillFailing fixed newlySkipped newlyFailing",
  note: "fixed newlyFailing newlyFailing stillFailing fixed newlySkipped newlyFailing",
  observed: "changedObservations newlyFailing newlyFailing newlyFailing unchanged newlySkipped newlyFailing",
  skipped: "noLongerSkipped newlyFailing newlyFailing newlyFailing noLongerSkipped unchanged newlyFailing",
  error: "fixed newlyFailing newlyFailing newlyFailing fixed newlySkipped stillFailing",
};

describe("the category of a finding", () => {
  const cells = outcomes.flatMap((was) => outcomes.map((is, at) => ({ was, is, name: table[was].split(" ")[at] })));

  it.each(cells)("$was, then $is: $name", ({ was, is, name }) => {
    expect(categorizeChange(sampleFinding({ outcome: was }), sampleFinding({ outcome: is }))).toBe(name);
  });

  it("tells a changed reading from a changed observation", () => {
    const read = (reading: string) => sampleFinding({ reading });
    expect(categorizeChange(read("form-a"), read("form-b"))).toBe("changedReadings");
    expect(categorizeChange(read("form-a"), read("form-a"))).toBe("unchanged");
    const seen = (reason: string) => sampleFinding({ outcome: "observed", level: "gap", reason });
    expect(categorizeChange(seen("404"), seen("405"))).toBe("changedObservations");
  });
});

const findings = fc
  .uniqueArray(
    fc.record({
      check: fc.constantFrom("SSE-1", "SSE-5", "SSE-5/more", "LIM-1", "HDR-9"),
      instance: fc.constantFrom(undefined, "free", "pro"),
      outcome: fc.constantFrom(...outcomes),
      reading: fc.constantFrom(undefined, "form-a", "form-b"),
      reason: fc.constantFrom(undefined, "404", "405", "after 3 s", "after 4 s"),
    }),
    { selector: ({ check, instance }) => JSON.stringify([check, instance]), maxLength: 15 },
  )
  .map((rows) =>
    rows.map(({ check, instance, outcome, reading, reason }) =>
      sampleFinding({
        check,
        clause: check.split("/")[0] ?? check,
        outcome,
        ...(instance === undefined ? {} : { instance }),
        ...(reading === undefined ? {} : { reading }),
        ...(reason === undefined ? {} : { reason }),
      }),
    ),
  );

const paired = [
  "newlyFailing",
  "fixed",
  "newlySkipped",
  "noLongerSkipped",
  "stillFailing",
  "changedReadings",
  "changedObservations",
] as const satisfies readonly (keyof FindingChanges)[];

const changesOf = (found: Comparison): readonly FindingChange[] => paired.flatMap((name) => found[name]);
const keyOf = ({ check, instance }: { readonly check: string; readonly instance: string | null }): string =>
  JSON.stringify([check, instance]);

describe("two reports", () => {
  it("have no differences if they are equal", () => {
    fc.assert(
      fc.property(findings, (rows) => {
        const found = compare(rows, rows);
        expect([found.appeared, found.gone, found.notes, found.regressions]).toEqual([[], [], [], []]);
        expect(found.changedSuite).toBeNull();
        // A report that is compared with itself has only findings that still fail.
        expect(changesOf(found)).toEqual(found.stillFailing);
        expect(hasCommonFindings(found)).toBe(rows.length > 0);
      }),
    );
  });

  it("have each finding in exactly one category", () => {
    fc.assert(
      fc.property(findings, findings, (older, newer) => {
        const found = compare(older, newer);
        const listed = changesOf(found).map(keyOf);
        const [appeared, gone] = [found.appeared.map(keyOf), found.gone.map(keyOf)];
        expect(new Set([...listed, ...appeared, ...gone]).size).toBe(listed.length + appeared.length + gone.length);
        expect(listed.length + found.unchanged + appeared.length).toBe(newer.length);
        expect(listed.length + found.unchanged + gone.length).toBe(older.length);
      }),
    );
  });

  it("give mirrored categories if they are swapped", () => {
    fc.assert(
      fc.property(findings, findings, (older, newer) => {
        const [there, back] = [compare(older, newer), compare(newer, older)];
        const swapped = changesOf(back).map(({ was, is, ...name }) => ({ ...name, was: is, is: was }));
        const sorted = (changes: readonly FindingChange[]) =>
          changes.map((change) => JSON.stringify([keyOf(change), change.was, change.is])).toSorted();
        expect(sorted(changesOf(there))).toEqual(sorted(swapped));
        expect(there.appeared.map(keyOf).toSorted()).toEqual(back.gone.map(keyOf).toSorted());
        expect(there.unchanged).toBe(back.unchanged);
        const improved = new Set(back.fixed.map(keyOf));
        const judged = there.newlyFailing.filter(({ was }) => was.outcome === "pass" || was.outcome === "observed");
        expect(judged.filter((change) => !improved.has(keyOf(change)))).toEqual([]);
      }),
    );
  });

  it("may repeat a key: the findings are then paired in order", () => {
    const [one, two] = [sampleFinding({}), sampleFinding({ outcome: "fail" })];
    const found = compare([one, two], [one]);
    expect(found.unchanged).toBe(1);
    expect(found.gone).toMatchObject([{ said: { outcome: "fail" } }]);
  });
});

it("a finding is identified by its check and instance", () => {
  expect(findingKey(sampleFinding({ instance: "free" }))).not.toBe(findingKey(sampleFinding({})));
  expect(findingKey(sampleFinding({ outcome: "fail", actual: "x" }))).toBe(findingKey(sampleFinding({})));
});

const fits = (shapes: string): string => `what was seen fits these windows: ${shapes}`;

describe("two texts of an observation can have the same cause", () => {
  it.each<[string, string, boolean]>([
    ["a stream of 10 s ended with done", "a stream of 9.5 s ended with done", true],
    ["`retry_after` 2271599 s", "`retry_after` 12 s", true],
    ["`period` is 2026-03-01T00:00:00Z", "`period` is 2027-04-01", true],
    ["sent to http://127.0.0.1:4000/x", "sent to http://127.0.0.1:4001/x", true],
    ["`average_response_time` is 0.0031 without a unit", "`average_response_time` is 1.2e-3 without a unit", true],
    ["`average_response_time` is 0.0031 without a unit", "`average_response_time` is 3.1 without a unit", false],
    ["`average_response_time` is 0 without a unit", "`average_response_time` is 0.4 without a unit", true],
    ["`average_response_time` is 0.0031 without a unit", '`average_response_time` is "3 ms" without a unit', false],
    ["answers 404", "answers 405", false],
    ["16 chunks", "29 chunks", false],
    ["a stream of 10 s ended with done", "a stream of 10 s ended with error", false],
    [fits("fixed, weighted"), fits("weighted, fixed"), true],
    [fits("fixed, weighted"), fits("rolling, fixed, anchored"), true],
    [fits("fixed, weighted"), fits("rolling, bucket"), false],
    ["hour fixed or weighted; minute fixed", "hour fixed; minute fixed or bucket", true],
    ["hour fixed or weighted; minute fixed", "hour fixed; minute rolling", false],
    ["hour fixed", "minute fixed", false],
  ])("%s / %s: %s", (was, is, same) => {
    expect(isEquivalentText(was, is)).toBe(same);
    expect(isEquivalentText(is, was)).toBe(same);
  });

  it("uses the same names of window shapes as the judge of limiters", () => {
    const all: Readonly<Record<LimiterShape, true>> = {
      rolling: true,
      fixed: true,
      anchored: true,
      pushed: true,
      weighted: true,
      bucket: true,
    };
    expect(Object.keys(all)).toEqual([...windowKinds]);
  });
});
