import * as fc from "fast-check";
import { type Outcome, outcomes, type ReportFinding, type RowLevel } from "../model/finding.ts";
import type { Report, ReportDocument } from "../model/report.ts";
import { sampleExchange, sampleFinding, sampleLoadRun, sampleReport, textBody } from "./sample.ts";
import { compareReports } from "../compare/compare-reports.ts";
import type { Comparison } from "../compare/comparison.ts";
import { type RegressionKind, regressionKinds } from "../compare/regression-rules.ts";
import type { Night } from "../history/night.ts";

/**
 * Texts that try to break out of a format: they end or open an element, contain a command, or have characters that cannot be displayed.
 * `src/report/hostile.test.ts` tries each text in every format, and `view-pages.ts` tries all of them in every page.
 */
export const hostileTexts = {
  "a script": "<script>owned = true</script>",
  "an end of script and style": "</script></style><img src=x onerror='owned = true'>",
  "an end of an attribute": '"><img src="http://127.0.0.1:9/" onerror="owned = true">',
  "a handler": "' onmouseover='owned = true' x='",
  "an end of what a page is made of":
    "</textarea></title></pre></details></summary></td></table></main><iframe srcdoc='x'></iframe>",
  "an image with a handler": "<svg onload=owned=true><b>bold</b>",
  entities: "&lt;script&gt;&#60;i&#62;",
  "an address that is a script": "javascript:owned=true",
  "a template": "`${owned}`",
  "a comment": "<!-- -->",
  "an open comment": "<!-- ",
  "a section of XML": "<![CDATA[x]]>",
  "an end of a section of XML": "]]>",
  "a command of a runner": "::error title=x::y",
  "a command on a line of its own": "\n::add-mask::x",
  "an older command": "##[error]x",
  "an encoded command": "%0A::warning::x",
  "properties of a command": "a,file=b:c",
  "cells of a table": "| a | b |\n| --- |",
  "marks of Markdown": "**a** _b_ ~c~ $d$ {e}",
  "a heading in a block": "```\n# heading",
  "a list with a box": "# x\n\n- [ ] y",
  "many backticks": "`````",
  "a mention": "@team",
  "an address of mail": "a@b.example",
  "a number of an issue": "#12",
  "a bare address": "www.evil.example https://evil.example/",
  "a link and an image": "[x](https://evil.example) ![x](https://evil.example/x.png)",
  "a backslash": "\\",
  "a forged request": "\r\n\r\n> GET /forged",
  "other ends of lines": "\r\u2028\u2029",
  "a change of direction": "\u202e\u2066evil\u2069\u200b\ufeff",
  "what is no character": "\ufffe\uffff",
  "half a character": "\ud800",
  "the other half": "\udc00x",
  "control characters": "\0\u0007\u001b[31mred\u001b[0m\u001b[2J",
  "a word as long as no phone is wide": "a-word-as-long-as-no-phone-is-wide-".repeat(6),
} as const;

/** All hostile texts, joined to one string. */
export const everyHostileText = Object.values(hostileTexts).join(" ");

/** Random mixtures of the hostile texts and of any other characters. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...Object.values(hostileTexts)), fc.string({ unit: "binary", maxLength: 12 })), {
    maxLength: 6,
  })
  .map((parts) => parts.join(""));

type Kind = Pick<ReportFinding, "outcome" | "level">;

const textFields = [
  "check",
  "clause",
  "suite",
  "instance",
  "reading",
  "expected",
  "actual",
  "reason",
  "needs",
] as const satisfies readonly (keyof ReportFinding)[];

type ByTextField<T> = Record<(typeof textFields)[number], T>;

const forEachTextField = <T>(value: T): ByTextField<T> =>
  Object.fromEntries(textFields.map((field) => [field, value])) as ByTextField<T>;

const findingWithTexts = (kind: Kind, texts: ByTextField<string>): ReportFinding =>
  sampleFinding({ ...kind, ...texts, witness: [texts.reason], evidence: ["x1"] });

const levels = ["must", "should", "advisory", "gap", "load"] as const satisfies readonly RowLevel[];

const hostileFinding: fc.Arbitrary<ReportFinding> = fc
  .record({
    outcome: fc.constantFrom<Outcome>(...outcomes),
    level: fc.constantFrom<RowLevel>(...levels),
    texts: fc.record(forEachTextField(hostileText)),
  })
  .map(({ texts, ...kind }) => findingWithTexts(kind, texts));

/** Random reports in which every text is hostile. */
export const hostileDocument: fc.Arbitrary<ReportDocument> = fc
  .record({
    findings: fc.array(hostileFinding, { minLength: 1, maxLength: 5 }),
    text: hostileText,
    isLoad: fc.boolean(),
  })
  .map(({ findings, text, isLoad }) => documentWithText(findings, text, isLoad));

/** Returns a report of a run and a load report. They have findings of every outcome, and every text in them is `text`. */
export const documentsWithText = (text: string): ReportDocument[] =>
  [false, true].map((isLoad) => {
    const level = isLoad ? "load" : "must";
    const findings = outcomes.map((outcome) => findingWithTexts({ outcome, level }, forEachTextField(text)));
    return documentWithText(findings, text, isLoad);
  });

function documentWithText(findings: readonly ReportFinding[], text: string, isLoad: boolean): ReportDocument {
  const trial = { scenario: text, tier: text, engine: text };
  const load = { runs: [sampleLoadRun({ ...trial, validity: { invalid: text, counts: null, pace: null } })] };
  return {
    report: sampleReport(isLoad ? findings.map((finding) => ({ ...finding, load: trial })) : findings, {
      target: { name: text, baseUrl: text, fingerprint: text, tiers: {} },
      suite: { version: text, clauses: text, requirements: text },
      stopped: text,
      ...(isLoad ? { load } : {}),
    }),
    evidence: {
      exchanges: [
        sampleExchange(
          "x1",
          { url: `http://127.0.0.1/${text}`, body: textBody(text), headers: [["X-Sent", text]] },
          { body: textBody(text), headers: [["X-Came", text]] },
        ),
      ],
      deliveries: [],
      probes: [],
    },
    load: new Map(),
  };
}

const allRegressionKinds = new Set(Object.keys(regressionKinds) as RegressionKind[]);
const compareStrictly = (older: Report, newer: Report): Comparison =>
  compareReports(
    { report: older },
    { report: newer },
    { kinds: allRegressionKinds, tolerances: { latency: 0.1, throughput: 0.1, memory: 0.1 } },
  );

/** Compares a passed run with a broken one. Every free text in both is `text`. */
export const comparisonWithText = (text: string): Comparison => {
  const row = (outcome: ReportFinding["outcome"], words: string): ReportFinding[] => [
    sampleFinding({ clause: "INV-1", outcome, expected: words, actual: words, reason: words, instance: words }),
    sampleFinding({ clause: "SSE-5", check: words, reading: `${words}${outcome}` }),
    sampleFinding({ clause: "INV-19", level: "gap", outcome: "observed", reason: `${words}${outcome}` }),
  ];
  const side = (name: string, outcome: ReportFinding["outcome"]): Report => {
    const { target } = sampleReport([]);
    return sampleReport(row(outcome, text), {
      target: { ...target, name, baseUrl: text },
      stopped: text,
      load: { runs: [sampleLoadRun({ scenario: text, validity: { invalid: text, counts: null, pace: null } })] },
    });
  };
  return compareStrictly(side("Acme", "pass"), side(text, "fail"));
};

/** Returns a night in which every free text is `text`. A target, or a person who edits the history, could cause such texts. */
export const nightWithText = (night: Night, text: string): Night => ({
  ...night,
  target: { ...night.target, name: text, baseUrl: text },
  suite: { version: text, clauses: text, requirements: text },
  stopped: text,
  findings: night.findings.map((each) => ({
    ...each,
    check: `${each.check}${text}`,
    clause: text,
    instance: text,
    expected: text,
    actual: text,
    reason: text,
  })),
  streaming: (night.streaming ?? []).map((each) => ({ ...each, agent: text })),
  load: night.load.map((each) => ({ ...each, scenario: `${each.scenario}${text}`, tier: text })),
  reported: {
    regressions: night.reported.regressions.map((each) => ({
      says: text,
      check: `${each.check ?? ""}${text}`,
      instance: text,
    })),
    changes: night.reported.changes.map((each) => ({ ...each, scenario: `${each.scenario}${text}`, tier: text })),
  },
});

/** Properties whose values are fixed or have a fixed format. A report with another value is rejected before it reaches a renderer. */
const fixedValueProperties = new Set([
  "kind",
  "outcome",
  "level",
  "verdict",
  "format",
  "ending",
  "indexes",
  "engine",
  "shape",
  "probe",
]);

/** Properties that a page shows as sentences, in which backticks mark code. */
const sentenceProperties = new Set([
  "expected",
  "actual",
  "reason",
  "needs",
  "stopped",
  "invalid",
  "counts",
  "pace",
  "windows",
  "notes",
  "says",
  "problem",
]);

/** Appends `text` to every sentence of a report, a night or a comparison. */
export const withSentences = <T>(value: T, text: string): T =>
  replaceTexts(value, "", text, (member) => sentenceProperties.has(member)) as T;

/** Appends `text` to every text of a document that may come from outside. Equal texts stay equal, so that references still match. */
export const withHostileText = (document: ReportDocument, text: string): ReportDocument => ({
  report: withFreeText(document.report, text),
  evidence: withFreeText(document.evidence, text),
  load: new Map([...document.load].map(([name, evidence]) => [`${name}${text}`, withFreeText(evidence, text)])),
});

const withFreeText = <T>(value: T, text: string): T =>
  replaceTexts(value, "", text, (member) => !fixedValueProperties.has(member)) as T;

function replaceTexts(value: unknown, member: string, text: string, isText: (member: string) => boolean): unknown {
  if (typeof value === "string") return isText(member) ? value + text : value;
  if (Array.isArray(value)) return value.map((each) => replaceTexts(each, member, text, isText));
  if (typeof value !== "object" || value === null) return value;
  const isRecord = member === "tiers" && isText(member);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      isRecord ? name + text : name,
      replaceTexts(each, name, text, isText),
    ]),
  );
}
