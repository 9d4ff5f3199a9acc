import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { markdownCode, fencedBlock, markdownProse } from "./markdown-text.ts";
import { renderMarkdown } from "./markdown.ts";
import { defaultPolicy } from "../model/failure-policy.ts";
import { hostileText } from "../testing/hostile.ts";
import { expectHarmless, linesOutsideFences } from "./testing/read-formats.ts";
import { sampleReportsByKind } from "./testing/sample-reports-by-kind.ts";

describe("Markdown", () => {
  it.each([
    ["conformant", "## Conformance: conformant"],
    ["broken", "## Conformance: nonconformant"],
    ["partial", "## Conformance: partial"],
    ["interrupted", "incomplete: stopped early (interrupted), nothing broken by then"],
    ["without evidence", "actual <code>two ends</code>"],
    [
      "load",
      "| <code>minute-limit</code> | <code>pro</code> | <code>k6</code> | 1,234 | 1,234 | 1,000 | 230 | 4 | 1&#46;3/40 | – | **1 failed** |",
    ],
    ["load", "- <code>burst, pro, autocannon</code>: its times prove nothing: 31 requests were late"],
    ["load", "npx agent-hosting-conformance load minute-limit --tier pro --engine k6"],
    ["partial", "| enabled by agents&#46;failing | 1 | <code>SSE-15</code> |"],
    ["broken", "- also <code>e</code> (<code>pro</code>)"],
  ] as const)("of a report that is %s says %j", (kind, expected) => {
    const markdown = renderMarkdown(sampleReportsByKind[kind]);
    expect(markdown).toContain(expected);
    expectHarmless(linesOutsideFences(markdown).filter((line) => !line.startsWith("## ") && !line.startsWith("### ")));
  });

  it("folds the exchange and the command of a broken clause", () => {
    const markdown = renderMarkdown(sampleReportsByKind.broken);
    expect(markdown).toContain(
      "<details><summary><b><code>SSE-5</code></b> (must) Exactly one of <code>done</code> and",
    );
    expect(markdown).toContain("```text\nexchange  x1\n  > POST http://127.0.0.1:8080/v1/agents/echo/invoke");
  });

  it("lists known failures and stale entries separately", () => {
    const baseline = [
      { check: "SSE-5", reason: "fixed in 2.3" },
      { check: "SSE-4", reason: "was broken" },
    ];
    const markdown = renderMarkdown(sampleReportsByKind.broken, { ...defaultPolicy, baseline });
    expect(markdown).toContain(
      "### Known failures, excused by the baseline\n\n- <code>SSE-5</code>: <code>fixed in 2&#46;3</code>",
    );
    expect(markdown).toContain("### No longer fails: remove it from the baseline\n\n- <code>SSE-4</code>");
    expect(markdown).not.toContain("<details><summary><b><code>SSE-5</code>");
  });

  it("leaves out whole blocks if it is too long, and says so", () => {
    const whole = renderMarkdown(sampleReportsByKind.broken);
    for (const most of [300, 800, 1500]) {
      const cut = renderMarkdown(sampleReportsByKind.broken, defaultPolicy, most);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(most);
      expect(cut).toMatch(/_Cut here: .*_\n$/);
      linesOutsideFences(cut);
    }
    expect(renderMarkdown(sampleReportsByKind.broken, defaultPolicy, Buffer.byteLength(whole))).toBe(whole);
  });
});

describe("text of the target in Markdown", () => {
  it.each([
    ["a | b", "<code>a &#124; b</code>"],
    ["@team", "<code>&#64;<!-- -->team</code>"],
    ["</details>", "<code>&#60;/details&#62;</code>"],
    ["a\n# b", "<code>a &#35; b</code>"],
    ["", ""],
  ])("%j is in code letters %j", (text, expected) => {
    expect(markdownCode(text)).toBe(expected);
  });

  it("is escaped in prose, except for code", () => {
    expect(markdownProse("`done` is {a} b.")).toBe("<code>done</code> is &#123;a&#125; b.");
  });

  it("cannot end its block", () => {
    fc.assert(
      fc.property(fc.array(hostileText), (lines) => {
        expect(linesOutsideFences(fencedBlock(lines))).toEqual([]);
      }),
    );
  });
});
