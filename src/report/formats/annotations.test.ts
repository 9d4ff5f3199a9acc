import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { sampleFinding, sampleReport } from "../testing/sample.ts";
import { annotationLines, withoutCommands } from "./annotations.ts";
import { hostileText } from "../testing/hostile.ts";
import { sampleReportsByKind } from "./testing/sample-reports-by-kind.ts";

const broken = (count: number, outcome: "fail" | "warning" = "fail") => ({
  report: sampleReport(
    Array.from({ length: count }, (_, at) => sampleFinding({ clause: `X-${at}`, outcome, expected: "a", actual: "b" })),
  ),
});

describe("annotations", () => {
  it("name each broken clause once, with its sentence, expected and actual", () => {
    expect(annotationLines(sampleReportsByKind.broken)).toEqual([
      "::error title=SSE-5 (must)::Exactly one of `done` and `error` comes last, and no event follows it.%0Aexpected one end; got two ends",
      expect.stringMatching(/^::error title=HOOK-1 \(must\)::.*%0Aexpected a; got b$/),
      expect.stringMatching(
        /^::error title=ERR-4 \(must\)::.*The harness itself failed; this is not the target's fault/,
      ),
      expect.stringMatching(
        /^::warning title=ERR-1 \(free\) \(should\)::.*expected c; got d \(and 1 more of this clause\)$/,
      ),
    ]);
  });

  it.each([
    ["conformant", []],
    ["partial", []],
  ] as const)("are empty for a report that is %s", (kind, expected) => {
    expect(annotationLines(sampleReportsByKind[kind])).toEqual(expected);
  });

  it("stand at each place of a configuration file that breaks a clause", () => {
    const at = (line: number) => ({ file: "bots/a,b.yaml", line, column: 3 });
    const findings = [4, 4, 9].map((line) =>
      sampleFinding({ clause: "CFG-8", outcome: "fail", expected: "a", actual: "b", where: at(line) }),
    );
    expect(annotationLines({ report: sampleReport(findings) })).toEqual([
      expect.stringMatching(
        /^::error file=bots\/a%2Cb\.yaml,line=4,col=3,title=CFG-8 .* \(and 1 more of this clause\)$/,
      ),
      expect.stringMatching(
        /^::error file=bots\/a%2Cb\.yaml,line=9,col=3,title=CFG-8 .*expected a; got b, at bots\/a,b\.yaml:9:3$/,
      ),
    ]);
  });

  it("follow the failure policy of the run", () => {
    const rules = {
      strict: true,
      baseline: [
        { check: "SSE-5", reason: "r" },
        { check: "SSE-4", reason: "old" },
      ],
    };
    const lines = annotationLines(sampleReportsByKind.broken, rules);
    expect(lines.filter((line) => line.includes("SSE-5"))).toEqual([]);
    expect(lines.filter((line) => line.startsWith("::warning"))).toEqual([]);
    expect(lines.at(-1)).toBe(
      "::error title=Stale baseline%3A SSE-4::It no longer fails: remove it from the baseline.",
    );
  });

  it.each(["fail", "warning"] as const)(
    "are at most ten of a kind, the last with the number of others: %s",
    (outcome) => {
      expect(annotationLines(broken(10, outcome))).toHaveLength(10);
      const lines = annotationLines(broken(25, outcome));
      expect(lines).toHaveLength(10);
      expect(lines.at(-1)).toContain("16 more in the report.");
    },
  );
});

describe("text for a runner of GitHub Actions", () => {
  it.each([
    ["::set-output name=a::b", ": :set-output name=a::b"],
    ["a\n  \t::add-mask::b", "a\n  \t: :add-mask::b"],
    ["a ##[error]b", "a ## [error]b"],
    ["a ::b", "a ::b"],
  ])("has no command in it: %j", (text, expected) => {
    expect(withoutCommands(text)).toBe(expected);
  });

  it("has none, whatever a target writes", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const lines = withoutCommands(text).split(/\r\n|\r|\n/);
        expect(lines.filter((line) => line.trim().startsWith("::") || line.includes("##["))).toEqual([]);
      }),
    );
  });
});
