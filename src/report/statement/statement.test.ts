import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { ReportFinding } from "../model/finding.ts";
import type { Report } from "../model/report.ts";
import { totalsOf } from "../model/verdict.ts";
import { sampleFinding, sampleLoadRun, sampleReport } from "../testing/sample.ts";
import { rejudgeDifferences, statementDifferences } from "./differences.ts";
import { sha256Of, statementOf, serializeStatement } from "./statement.ts";
import { type Statement, statementSchema } from "./statement-schema.ts";

const digest = sha256Of("evidence");
const findings: readonly ReportFinding[] = [
  sampleFinding(),
  sampleFinding({ clause: "INV-3", outcome: "fail", instance: "free", expected: "a 400", actual: "a 200" }),
  sampleFinding({ clause: "INV-3", outcome: "fail", instance: "pro", expected: "a 400", actual: "a 200" }),
  sampleFinding({ clause: "ERR-2", reading: "form-a" }),
  sampleFinding({ clause: "INV-4", reading: "present" }),
  sampleFinding({ clause: "HOOK-1", outcome: "skipped", reason: "nobody listens", needs: "webhooks" }),
  sampleFinding({ clause: "SSE-9", level: "advisory", outcome: "note", expected: "by one", actual: "by two" }),
];
const report = sampleReport(findings, { verdict: "nonconformant", unselected: ["LIM-1"] });
const statement = statementOf({ report }, { "evidence.json": digest });

describe("a conformance statement", () => {
  it("has the target, suite and verdict, each exception once with its reason, and what was not exercised", () => {
    expect(statement).toMatchObject({
      kind: "run",
      target: { name: "Acme", tiers: ["free"] },
      suite: report.suite,
      verdict: "nonconformant",
      counts: { clauses: { passed: 3, broken: 1, noted: 1, notExercised: 1 }, findings: report.totals },
      notExercised: [{ clause: "HOOK-1", level: "must", reason: "nobody listens", needs: "webhooks" }],
      unselected: ["LIM-1"],
      readings: { "ERR-2": ["form-a"] },
      evidence: [{ file: "evidence.json", sha256: digest }],
    });
    expect(statement.exceptions).toEqual([
      {
        check: "INV-3",
        clause: "INV-3",
        level: "must",
        outcome: "fail",
        instances: ["free", "pro"],
        expected: "a 400",
        actual: "a 200",
      },
      { check: "SSE-9", clause: "SSE-9", level: "advisory", outcome: "note", expected: "by one", actual: "by two" },
    ]);
  });

  it("lists load runs with their counts, and which run proves nothing", () => {
    const validity = { invalid: "too busy", counts: null, pace: null };
    const load = { runs: [sampleLoadRun({ validity })] };
    expect(statementOf({ report: sampleReport([], { load }) }, {})).toMatchObject({
      kind: "load",
      load: [{ scenario: "minute-limit", tier: "pro", engine: "k6", sent: 1234, invalid: "too busy" }],
    });
  });

  it("can be parsed again whatever the target writes, and holds no control character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 2000 }), (text) => {
        const words = { instance: text, expected: text, actual: text, reason: text };
        const names = { clause: text, check: text };
        const hostile = [
          sampleFinding({ outcome: "fail", ...words }),
          sampleFinding({ outcome: "warning", ...words, ...names, reading: text }),
          sampleFinding({ outcome: "skipped", ...words, ...names, clause: `${text}.` }),
        ];
        const target = { name: text, baseUrl: text, fingerprint: text, tiers: { key: text } };
        const written = serializeStatement(statementOf({ report: sampleReport(hostile, { target }) }, {}));
        expect(statementSchema.parse(JSON.parse(written))).toEqual(JSON.parse(written));
        return !/(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/u.test(written) && written.length < 10_000;
      }),
    );
  });

  it("is refused with an unknown field", () => {
    const wrong: readonly object[] = [
      { ...statement, format: "agent-hosting-conformance/statement/2" },
      { ...statement, verdict: "fine" },
      { ...statement, seal: "of approval" },
      { ...statement, evidence: [{ file: "evidence.json", sha256: "00" }] },
    ];
    expect(wrong.map((each) => statementSchema.safeParse(each).success)).toEqual([false, false, false, false]);
  });
});

describe("a statement that was tampered with", () => {
  const [broken, note] = statement.exceptions;
  const changed: readonly (readonly [string, Partial<Statement>, RegExp])[] = [
    [
      "verdict",
      { verdict: "conformant" },
      /^verdict: the statement says "conformant", the report says "nonconformant"$/,
    ],
    ["name", { target: { ...statement.target, name: "Other" } }, /^target\.name: .*"Other".*"Acme"$/],
    [
      "count",
      { counts: { ...statement.counts, findings: { ...statement.counts.findings, fail: 0 } } },
      /findings\.fail/,
    ],
    ["suite", { suite: { ...statement.suite, version: "9.9.9" } }, /^suite\.version: .*9\.9\.9/],
    ["date", { finished: "2031-01-01T00:00:00.000Z" }, /^finished: /],
    ["stop", { stopped: "never" }, /^stopped: the statement says "never", the report says nothing$/],
    [
      "exception left out",
      { exceptions: note === undefined ? [] : [note] },
      /has INV-3 fail, which the statement leaves/,
    ],
    [
      "exception with another text",
      {
        exceptions: [
          ...(broken === undefined ? [] : [{ ...broken, actual: "a 401" }]),
          ...(note === undefined ? [] : [note]),
        ],
      },
      /^exceptions: the statement differs from the report in INV-3 fail/,
    ],
    ["not exercised", { notExercised: [] }, /^notExercised: the report has HOOK-1/],
    ["unselected", { unselected: [] }, /^unselected: /],
    ["readings", { readings: { "ERR-2": ["form-b"] } }, /^readings: .* ERR-2/],
    ["digest", { evidence: [{ file: "evidence.json", sha256: sha256Of("other") }] }, /^evidence\.json: its SHA-256 is/],
    ["evidence", { evidence: [] }, /^evidence\.json: the report rests on it/],
    [
      "evidence named twice",
      { evidence: [...statement.evidence, { file: "evidence.json", sha256: sha256Of("other") }] },
      /^evidence: the statement names the files in another order, or one of them twice$/,
    ],
  ];

  it.each(changed)("%s: is reported, and nothing else", (_, change, line) => {
    const lines = statementDifferences({ ...statement, ...change }, statement);
    expect(lines).toEqual([expect.stringMatching(line)]);
  });

  it("has no differences if nothing was changed", () => {
    expect(statementDifferences(statement, statement)).toEqual([]);
  });
});

describe("a report that contradicts its evidence", () => {
  const [first, ...others] = findings;
  const tampered: readonly (readonly [string, Partial<Report>, RegExp])[] = [
    [
      "an outcome",
      { findings: [sampleFinding({ outcome: "fail" }), ...others] },
      /^SSE-5: the report says fail, its evidence pass$/,
    ],
    ["a row left out", { findings: others }, /^SSE-5: the report says nothing, its evidence pass$/],
    [
      "a row made up",
      { findings: [...findings, sampleFinding({ clause: "SSE-6" })] },
      /^SSE-6: the report says pass, its/,
    ],
    [
      "a row twice",
      { findings: [...findings, sampleFinding()] },
      /^SSE-5: the report says pass, its evidence nothing$/,
    ],
    [
      "the same words in other parts",
      { findings: [sampleFinding({ evidence: ["x1 x2"] }), ...others] },
      /^SSE-5: the report says \["x1 x2"\] for evidence/,
    ],
    ["what no request can show", { untestable: [{ clause: "SSE-5", level: "must", reason: "no" }] }, /^untestable: /],
    [
      "what was seen",
      { findings: [sampleFinding({ reason: "fine" }), ...others] },
      /^SSE-5: the report says "fine" for reason, its evidence nothing$/,
    ],
    ["the verdict", { verdict: "conformant" }, /^verdict: the report says "conformant", its evidence "nonconformant"$/],
    ["the sums", { totals: { ...report.totals, fail: 0 } }, /^totals\.fail: the report says 0, its evidence 2$/],
    ["what was created", { created: [{ kind: "alert", id: null, key: null, at: "", exchange: "x1" }] }, /^created: /],
  ];

  it.each(tampered)("%s: is reported", (_, change, line) => {
    expect(first).toBeDefined();
    const { differences, leftOut } = rejudgeDifferences({ ...report, ...change }, report);
    expect(leftOut).toEqual([]);
    expect(differences[0]).toMatch(line);
  });

  it("has a difference that names the load run and the metric", () => {
    const load = { runs: [sampleLoadRun()] };
    const [run] = load.runs;
    const more = { runs: [sampleLoadRun({ requests: { ...sampleLoadRun().requests, sent: 1_000_000 } })] };
    expect(run?.requests.sent).toBe(1234);
    expect(rejudgeDifferences(sampleReport([], { load: more }), sampleReport([], { load })).differences).toEqual([
      "load.runs.0.requests.sent: the report says 1000000, its evidence 1234",
    ]);
  });

  it("has the results of clauses that it lists as left out, broken ones first", () => {
    const unselected = [sampleFinding({ clause: "LIM-2" }), sampleFinding({ clause: "LIM-1", outcome: "fail" })];
    expect(rejudgeDifferences(report, report, unselected).leftOut).toEqual(["LIM-1 (fail)", "LIM-2 (pass)"]);
  });

  it("may lack findings that no verdict rests on, as after a selection; they are listed", () => {
    const selected = findings.filter(({ level }) => level === "must");
    expect(
      rejudgeDifferences(sampleReport(selected, { ...report, findings: selected, totals: totalsOf(selected) }), report),
    ).toEqual({
      differences: [],
      leftOut: ["SSE-9 (note)"],
    });
  });
});
