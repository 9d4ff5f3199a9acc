import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { findPatch } from "../../reference/catalogue.ts";
import { withoutContradiction } from "../../report/testing/sample.ts";
import { serializeEvidence, serializeReport } from "../../report/model/report-file.ts";
import type { ReportFinding } from "../../report/model/finding.ts";
import type { Report } from "../../report/model/report.ts";
import { statementOf, serializeStatement } from "../../report/statement/statement.ts";
import { unselectedMusts } from "../../run/plan/selection.ts";
import { judgedRun } from "../testing/judged-session.ts";
import { suites } from "../../suites/all.ts";
import { digestsOfSaved, readReportDocument } from "../../app/report-folder/saved-report.ts";
import { commandLineIn } from "../testing/command.ts";

const root = mkdtempSync(join(tmpdir(), "verify-"));
const kept = join(root, "kept");
const command = commandLineIn(root);

beforeAll(async () => {
  const patch = findPatch("fault", "done-twice");
  const embedded = await startEmbedded(patch === undefined ? [] : [patch]);
  // The webhook suite is included because its evidence holds signing secrets, which must not get into a statement.
  const selected = suites.filter(({ title }) => /stream|deliver/i.test(title));
  const session = await judgedRun({ target: embedded.target, suites: selected }, unselectedMusts(suites, selected));
  await embedded.close();
  mkdirSync(kept);
  writeFileSync(join(kept, "report.json"), serializeReport(session.report));
  writeFileSync(join(kept, "evidence.json"), serializeEvidence(session.evidence));
  writeFileSync(join(kept, "statement.json"), stated(kept));
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

/** Returns the text of a statement about a report folder, as `--statement` writes it. */
const stated = (folder: string): string => {
  const document = readReportDocument(folder);
  return serializeStatement(statementOf(document, digestsOfSaved(folder, document)));
};

/** Copies the report folder and changes one file in the copy. Returns the copy's path. */
function tampered(name: string, file: string, change: (text: string) => string): string {
  const folder = join(root, name.replaceAll(" ", "-"));
  cpSync(kept, folder, { recursive: true });
  const before = readFileSync(join(folder, file), "utf8");
  const after = change(before);
  if (after === before) throw new Error(`${name} changes nothing`);
  writeFileSync(join(folder, file), after);
  return folder;
}

/** Turns a finding into a passed one. */
const passOf = ({ check, clause, suite, level, evidence = [] }: ReportFinding): ReportFinding => ({
  check,
  clause,
  suite,
  level,
  outcome: "pass",
  evidence,
});

/** Changes a report so that its statement becomes false. Adapts the other parts of the report, so that it does not contradict itself. */
const reportWith =
  (change: (report: Report) => Partial<Report>) =>
  (text: string): string => {
    const report = JSON.parse(text) as Report;
    return JSON.stringify(withoutContradiction({ ...report, ...change(report) }));
  };

describe("conformance verify", () => {
  it("verifies an honest statement by judging the evidence again", async () => {
    const { code, out } = await command(["verify", join(kept, "statement.json"), kept]);
    expect(out).toMatch(
      /judged again, by the same version[^]*\nverified: embedded reference server is nonconformant, with 1/,
    );
    expect(code).toBe(0);
  });

  it("says the same as JSON, and of a path to report.json", async () => {
    const { code, out } = await command(["verify", join(kept, "statement.json"), join(kept, "report.json"), "--json"]);
    expect([code, JSON.parse(out)]).toMatchObject([0, { verified: true, verdict: "nonconformant", mismatches: [] }]);
  });

  const tamperings: readonly (readonly [string, string, (text: string) => string, RegExp])[] = [
    [
      "a statement with another verdict",
      "statement.json",
      (text) => text.replace('"verdict": "nonconformant"', '"verdict": "conformant"'),
      /✗ verdict: the statement says "conformant", the report says "nonconformant"/,
    ],
    [
      "a report that hides what is broken",
      "report.json",
      reportWith(({ findings }) => ({
        findings: findings.map((each) => (each.outcome === "fail" ? { ...each, outcome: "pass" } : each)),
      })),
      /✗ SSE-5: the report says pass, its evidence fail/,
    ],
    [
      "a report without a row",
      "report.json",
      reportWith(({ findings }) => ({ findings: findings.slice(1) })),
      /✗ .*: the report says nothing, its evidence/,
    ],
    [
      "a report with a figure that no statement repeats",
      "report.json",
      reportWith(({ durationMs }) => ({ durationMs: durationMs + 1 })),
      /✗ report\.json: its SHA-256 is/,
    ],
    [
      "evidence with another status",
      "evidence.json",
      (text) => text.replace('"status":200', '"status":500'),
      /✗ evidence\.json: its SHA-256 is [0-9a-f]{64}, the statement says/,
    ],
    [
      "evidence that was reformatted alone",
      "evidence.json",
      (text) => `${text}\n`,
      /✗ evidence\.json: its SHA-256 is [0-9a-f]{64}, the statement says/,
    ],
  ];

  it.each(tamperings)("finds %s, names it, and ends with 1", async (name, file, change, line) => {
    const folder = tampered(name, file, change);
    const { code, out } = await command(["verify", join(folder, "statement.json"), folder]);
    expect(out).toMatch(line);
    expect(out).toMatch(/^not verified: /m);
    expect(code).toBe(1);
  });

  it("finds a lie that statement and report tell alike", async () => {
    const folder = tampered(
      "a common lie",
      "report.json",
      reportWith(({ findings }) => ({
        findings: findings.map((each) => (each.outcome === "fail" ? passOf(each) : each)),
      })),
    );
    writeFileSync(join(folder, "statement.json"), stated(folder));
    const { code, out } = await command(["verify", join(folder, "statement.json"), folder]);
    expect(out).not.toContain("the statement says");
    expect(out).toContain("✗ SSE-5: the report says pass, its evidence fail");
    expect(code).toBe(1);
  });

  it("finds a common lie on who was judged, and by how many requests", async () => {
    const folder = tampered(
      "another deployment",
      "report.json",
      reportWith(({ target }) => ({ target: { ...target, baseUrl: "https://acme.example/v1" }, requests: 1 })),
    );
    writeFileSync(join(folder, "statement.json"), stated(folder));
    const { code, out } = await command(["verify", join(folder, "statement.json"), folder]);
    expect(out).toMatch(/✗ target\.baseUrl: the report says "https:\/\/acme\.example\/v1", its evidence is of "http:/);
    expect(out).toMatch(/✗ requests: the report says 1, its evidence has \d+/);
    expect(code).toBe(1);
  });

  it("tells what is broken in the evidence of a clause that the report calls left out", async () => {
    const hide = reportWith(({ findings, unselected }) => ({
      unselected: [...unselected, "SSE-5"],
      findings: findings.filter(({ clause }) => clause !== "SSE-5"),
    }));
    const folder = tampered("a clause called left out", "report.json", hide);
    writeFileSync(join(folder, "statement.json"), stated(folder));
    const { out } = await command(["verify", join(folder, "statement.json"), folder]);
    expect(out).toContain("In the evidence and not in the report, as a selection leaves it out: SSE-5 (fail)");
  });

  it.each([
    ["a field twice", (text: string) => text.replace('"verdict"', '"verdict": "conformant",\n  "verdict"')],
    [
      "a field that parsers pass over",
      (text: string) => text.replace('"readings": {', '"readings": { "__proto__": [],'),
    ],
  ])("refuses a statement with %s", async (name, change) => {
    const folder = tampered(name, "statement.json", change);
    const { code, err } = await command(["verify", join(folder, "statement.json"), folder]);
    expect(err).toMatch(
      /is not a conformance statement: |has a duplicate name "verdict" in line|has the name "__proto__"/,
    );
    expect(code).toBe(2);
  });

  it("takes no report by another name, because what stands beside it is not its evidence", async () => {
    const folder = tampered("another name", "report.json", (text) => `${text}\n`);
    cpSync(join(kept, "report.json"), join(folder, "other.json"));
    const { code, err } = await command(["verify", join(kept, "statement.json"), join(folder, "other.json")]);
    expect([code, err]).toEqual([2, expect.stringContaining("other.json is not report.json")]);
  });

  it("says who judged where that was another version, and what this one sees in other ways", async () => {
    const older = (text: string): string => text.replace(/"version": ?"[^"]*"/, '"version": "0.0.1"');
    const folder = tampered("another version", "report.json", older);
    writeFileSync(join(folder, "statement.json"), stated(folder));
    const same = await command(["verify", join(folder, "statement.json"), folder]);
    expect(same.out).toMatch(/^Judged by version 0\.0\.1 .* which finds the same in every row\.$/m);
    expect(same.code).toBe(0);
    const lie = (text: string): string => text.replace('"verdict": "nonconformant"', '"verdict": "conformant"');
    writeFileSync(join(folder, "report.json"), lie(readFileSync(join(folder, "report.json"), "utf8")));
    const other = await command(["verify", join(folder, "statement.json"), folder]);
    expect(other.err).toMatch(
      /contradicts itself: its verdict is conformant, and from its findings follows nonconformant/,
    );
    expect([other.code, other.out]).toEqual([2, ""]);
  });

  it("does not verify without the evidence", async () => {
    const folder = tampered("nothing to judge", "report.json", (text) => `${text}\n`);
    rmSync(join(folder, "evidence.json"));
    const { code, out } = await command(["verify", join(folder, "statement.json"), folder]);
    expect(out).toContain("✗ The evidence could not be judged: evidence.json is missing");
    expect(code).toBe(1);
  });

  it.each([
    ["no statement", ["none.json", kept], /The statement cannot be read: none\.json \(ENOENT\)/],
    ["no report", [join(kept, "statement.json"), "none"], /The report cannot be read: none \(ENOENT\)/],
    ["a report for a statement", [join(kept, "report.json"), kept], /is not a conformance statement: format: /],
    ["evidence for a report", [join(kept, "statement.json"), join(kept, "evidence.json")], /evidence\.json: format/],
  ])("ends with 2 and one line for %s", async (_, args, line) => {
    const { code, out, err } = await command(["verify", ...args]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(line);
    expect(err.trim().split("\n")).toHaveLength(1);
  });

  it("keeps what webhooks are signed with to the evidence", () => {
    const secrets = [...readFileSync(join(kept, "evidence.json"), "utf8").matchAll(/\\"secret\\":\\"([^"\\]{12,})/g)];
    const written = readFileSync(join(kept, "statement.json"), "utf8");
    expect(secrets.filter(([, secret = ""]) => written.includes(secret))).toEqual([]);
  });
});
