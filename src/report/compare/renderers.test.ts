import { stripVTControlCharacters } from "node:util";

import { describe, expect, it } from "vitest";

import { newestRequirements } from "../../spec/clause.ts";
import type { ReportFinding } from "../model/finding.ts";
import type { Report } from "../model/report.ts";
import { sampleFinding, sampleLoadRun, sampleReport } from "../testing/sample.ts";
import { compareReports } from "./compare-reports.ts";
import type { Comparison } from "./comparison.ts";
import { type ComparisonTerminalOptions, renderComparisonMarkdown, renderComparisonTerminal } from "./render-text.ts";
import { type RegressionKind, regressionKinds } from "./regression-rules.ts";

const kinds = new Set(Object.keys(regressionKinds) as RegressionKind[]);
const compare = (older: Report, newer: Report): Comparison =>
  compareReports(
    { report: older },
    { report: newer },
    { kinds, tolerances: { latency: 0.1, throughput: 0.1, memory: 0.1 } },
  );
const terminal = (found: Comparison, options: Partial<ComparisonTerminalOptions> = {}): string =>
  renderComparisonTerminal(found, { colour: false, width: 100, quiet: false, ...options });

const tiers = ["free", "pro", "team"];
const limits = (finding: Partial<ReportFinding>): ReportFinding[] =>
  tiers.map((instance) => sampleFinding({ clause: "LIM-1", suite: "Limits", instance, ...finding }));

const usual = compare(
  sampleReport([
    ...limits({}),
    sampleFinding({ clause: "SSE-5", outcome: "fail", expected: "one done", actual: "two" }),
    sampleFinding({ clause: "ERR-2", reading: "form-a" }),
    sampleFinding({ clause: "INV-19", level: "gap", outcome: "observed", reason: "400" }),
    sampleFinding({ clause: "INV-1" }),
  ]),
  sampleReport([
    ...limits({ outcome: "fail", expected: "10 admitted", actual: "11 admitted" }),
    sampleFinding({ clause: "SSE-5" }),
    sampleFinding({ clause: "ERR-2", reading: "form-b" }),
    sampleFinding({ clause: "INV-19", level: "gap", outcome: "observed", reason: "200" }),
    sampleFinding({ clause: "INV-1", outcome: "skipped", reason: "no agent", needs: "`agents.answering`" }),
  ]),
);

describe("a comparison for the terminal", () => {
  it("lists changes by kind, equal findings of several tiers once, and ends with the summary", () => {
    // The total grows with each new clause.
    expect(terminal(usual).replaceAll(/\d % \((\d) of \d+\)/g, "P % ($1 of N)")).toBe(
      `old  Acme at http://127.0.0.1:8080/v1, 2030-01-01 00:00 UTC, conformant, suite 0.1.0, requirement
     set ${newestRequirements}
     covered must clauses P % (4 of N)
new  Acme at http://127.0.0.1:8080/v1, 2030-01-01 00:00 UTC, conformant, suite 0.1.0, requirement
     set ${newestRequirements}
     covered must clauses P % (3 of N)

Newly failing: 3
  LIM-1  must · Not more requests are admitted in a minute than the key's tier publishes.
    LIM-1 (free, pro, team)
    was       pass
    now       fail
    expected  10 admitted
    actual    11 admitted

Newly skipped: 1
  1 check  enabled by \`agents.answering\` (INV-1)

Fixed: 1
  SSE-5  must · Exactly one of \`done\` and \`error\` comes last, and no event follows it.
    was       fail: expected one done; got two
    now       pass

Changed readings: 1
  ERR-2  must · An error on invoke has form A or form B.
    was       form-a
    now       form-b

Changed observations: 1
  INV-19  gap · The answer to an out-of-range parameter value is not shown.
    was       400
    now       200

regression  failing  LIM-1 (free, pro, team)
regression  skipped-must  INV-1
regression  reading  ERR-2
regression  observation  INV-19

6 regressions (LIM-1, INV-1, ERR-2, INV-19), 3 newly failing, 1 newly skipped, 1 fixed, 1 with another reading, 1 observed differently, 0 unchanged
`,
    );
  });

  it("has only a line for each regression and the summary if quiet", () => {
    const lines = terminal(usual, { quiet: true, width: 200 }).trimEnd().split("\n");
    expect(lines).toHaveLength(7);
    expect(lines[0]).toBe("regression  failing  LIM-1 (free): expected 10 admitted; got 11 admitted");
  });

  it("has the same words with colours", () => {
    const coloured = terminal(usual, { colour: true });
    expect(coloured).not.toBe(terminal(usual));
    expect(stripVTControlCharacters(coloured)).toBe(terminal(usual));
  });

  const loaded = (run = {}): Report => sampleReport([], { load: { runs: [sampleLoadRun(run)] } });

  it("shows old and new load metrics within the width", () => {
    const found = compare(loaded(), loaded({ perSecond: { sent: 900, admitted: 700 } }));
    const text = terminal(found);
    expect(text).toMatch(/minute-limit, pro, k6 +admitted +1,000 +1,000 +=/);
    expect(text).toMatch(/sent per second +1,234\/s +900\/s +-27 %/);
    const narrow = terminal(found, { width: 60 });
    expect(narrow).toMatch(/^minute-limit, pro, k6$/m);
    const [, table = ""] = /^(figure[\s\S]*?)\n\n/m.exec(narrow) ?? [];
    expect(Math.max(...table.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  it("shows the first clauses of many, and the number of others", () => {
    const many = (outcome: "pass" | "fail"): Report =>
      sampleReport(Array.from({ length: 30 }, (_, at) => sampleFinding({ clause: `NEW-${at}`, outcome })));
    expect(terminal(compare(many("pass"), many("fail")))).toContain("and 20 more clauses; --json has them all");
  });
});

describe("Markdown", () => {
  it("shows regressions, and folds the rest", () => {
    const text = renderComparisonMarkdown(usual);
    expect(text).toMatch(/^## ❌ 6 regressions/);
    expect(text).toContain("### Newly failing: 3\n\n- **LIM-1** must");
    expect(text).toContain("<details>\n<summary>Fixed: 1</summary>");
  });
});
