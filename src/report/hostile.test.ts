import { validateStrict } from "ctrf";
import * as fc from "fast-check";
import { XMLValidator } from "fast-xml-parser";
import { describe, expect, it } from "vitest";

import { runsOf } from "../base/testing/test-scope.ts";
import { comparisonSchema } from "./compare/comparison.ts";
import { renderComparisonMarkdown, renderComparisonTerminal } from "./compare/render-text.ts";
import { renderComparisonPage } from "./compare/page.ts";
import {
  comparisonWithText,
  documentsWithText,
  hostileDocument,
  hostileText,
  hostileTexts,
  nightWithText,
  withHostileText,
} from "./testing/hostile.ts";
import { noChanges, replayNights, simulateNights } from "./history/testing/simulate-nights.ts";
import { renderTrendPage } from "./history/trend/page.ts";
import { renderVendorsMarkdown } from "./vendors/markdown.ts";
import { renderVendorsPage } from "./vendors/page.ts";
import { compareVendors } from "./vendors/comparison.ts";
import { renderVendorsTerminal } from "./vendors/terminal.ts";
import { vendorsWithText } from "./vendors/testing/vendors.ts";
import type { ReportDocument } from "./model/report.ts";
import { annotationLines } from "./formats/annotations.ts";
import { badgeEndpoint, renderBadge } from "./formats/badge.ts";
import { renderCtrf } from "./formats/ctrf.ts";
import { renderHar } from "./formats/har.ts";
import { renderJunit } from "./formats/junit.ts";
import { renderMarkdown } from "./formats/markdown.ts";
import {
  countJunitCases,
  countTableCells,
  expectHarmless,
  junitSchemaErrors,
  linesOutsideFences,
  parseHar,
} from "./formats/testing/read-formats.ts";
import { renderHtml } from "./html/render-html.ts";
import { brokenDocument, loadDocument } from "./html/testing/sample-documents.ts";
import { renderTerminal } from "./terminal/render-terminal.ts";
import { whyNothingJudged } from "./model/verdict.ts";

/** A check of one format: renders the value, and fails if a text in it breaks out of the format. */
type Rule<T> = (of: (value: T) => string, value: T) => void | Promise<void>;

const createdAt = "2030-01-01T00:00:00.000Z";
const options = { colour: false, width: 100, quiet: false, folder: null } as const;
const { nights } = replayNights(simulateNights(1, { ...noChanges, failing: { from: 3, check: "INV-7" } }));
const few = nights.slice(0, 8);

/** Renderers of small values. Each is tried with a hostile text wherever a text from outside may be. */
const byText: readonly (readonly [format: string, of: (text: string) => string, rule: Rule<string>])[] = [
  ["the page of a run", (text) => renderHtml(withHostileText(brokenDocument, text)), addsNoElement],
  ["the page of load", (text) => renderHtml(withHostileText(loadDocument, text)), addsNoElement],
  ["the page of a comparison", (text) => renderComparisonPage(comparisonWithText(text)), addsNoElement],
  ["the page of vendors", (text) => renderVendorsPage(compareVendors(vendorsWithText(text), createdAt)), addsNoElement],
  [
    "the trend page",
    (text) =>
      renderTrendPage(
        { nights: few.map((night) => nightWithText(night, text)), damaged: [{ file: "n.json", problem: text }] },
        { hasReports: () => true },
      ),
    addsNoElement,
  ],
  ["the Markdown of a comparison", (text) => renderComparisonMarkdown(comparisonWithText(text)), hasNoMarkup],
  [
    "the Markdown of vendors",
    (text) => renderVendorsMarkdown(compareVendors(vendorsWithText(`x${text}`), createdAt)),
    keepsItsTables,
  ],
  ["a run on the terminal", (text) => onTerminal(withHostileText(brokenDocument, text)), controlsNoTerminal],
  ["load on the terminal", (text) => onTerminal(withHostileText(loadDocument, text)), controlsNoTerminal],
  [
    "a comparison on the terminal",
    (text) => renderComparisonTerminal(comparisonWithText(text), options),
    controlsNoTerminal,
  ],
  [
    "vendors on the terminal",
    (text) => renderVendorsTerminal(compareVendors(vendorsWithText(`x${text}`), createdAt), options),
    controlsNoTerminal,
  ],
  [
    "the JSON of a comparison",
    (text) => JSON.stringify(comparisonWithText(text)),
    (of, text) => void comparisonSchema.parse(JSON.parse(of(text))),
  ],
];

/** Formats of whole reports. Each is tried with reports that have another hostile text in each place. */
const byDocument: readonly (readonly [
  format: string,
  of: (document: ReportDocument) => string,
  rule: Rule<ReportDocument>,
])[] = [
  ["JUnit", renderJunit, isJunit],
  ["CTRF", renderCtrf, (of, document) => validateStrict(JSON.parse(of(document)))],
  [
    "HAR",
    ({ report, evidence }) => renderHar({ report, evidence: evidence ?? { exchanges: [] } }),
    (of, document) => void parseHar(of(document)),
  ],
  ["a badge", renderBadge, isAnImageAlone],
  ["the endpoint of a badge", badgeEndpoint, (of, document) => controlsNoTerminal(of, document)],
  ["the Markdown of a report", renderMarkdown, isHarmlessMarkdown],
  [
    "annotations",
    (document) => annotationLines(document, { strict: true, baseline: [] }).join("\n"),
    isOneCommandALine,
  ],
];

const texts = Object.entries(hostileTexts);
/** Number of random mixtures of hostile texts to try. Each text is also tried alone. */
const mixtures = { numRuns: runsOf({ quick: 6, full: 1000 }) };

describe.each(byText)("%s", (_format, of, rule) => {
  it.each(texts)("is not broken by %s", async (_, text) => {
    expect(await holds(rule, of, text)).toBe(true);
  });

  it("is not broken by any mixture", async () => {
    const never = fc.asyncProperty(hostileText, (text) => holds(rule, of, text));
    await expect(fc.assert(never, mixtures)).resolves.toBeUndefined();
  });
});

describe.each(byDocument)("%s", (_format, of, rule) => {
  it.each(texts)("is not broken by %s", async (_, text) => {
    for (const document of documentsWithText(text)) expect(await holds(rule, of, document)).toBe(true);
  });

  it("is not broken by any mixture", async () => {
    const never = fc.asyncProperty(hostileDocument, (document) => holds(rule, of, document));
    await expect(fc.assert(never, mixtures)).resolves.toBeUndefined();
  });
});

/** Applies a rule to a value. If the rule is broken, its own expectations fail the test. */
async function holds<T>(rule: Rule<T>, of: (value: T) => string, value: T): Promise<true> {
  await rule(of, value);
  return true;
}

/** Renders a report as the bytes that a terminal gets. Bytes cannot represent the lone surrogates that a string may contain. */
function onTerminal({ report, evidence }: ReportDocument): string {
  return renderTerminal(report, evidence, { ...options, shellVariableOf: () => "KEY" }).toWellFormed();
}

function addsNoElement(of: (text: string) => string, text: string): void {
  const known = ownTags.get(of) ?? new Set([...tagsOf(of("x")), "code"]);
  ownTags.set(of, known);
  expect(tagsOf(of(text)).filter((tag) => !known.has(tag))).toEqual([]);
}

/** The tags that each page contains when no text comes from outside. */
const ownTags = new Map<(text: string) => string, ReadonlySet<string>>();

const tagsOf = (page: string): string[] => [
  ...new Set([...page.matchAll(/<\/?([a-z][a-z0-9-]*)/gi)].map(([, name = ""]) => name.toLowerCase())),
];

function hasNoMarkup(of: (text: string) => string, text: string): void {
  const bare = of(text).replaceAll(/<!-- -->|<\/?(?:details|summary|code)>/g, "");
  expect(bare).not.toMatch(/[<`@]|\]\(|\w:\/\//);
}

function keepsItsTables(of: (text: string) => string, text: string): void {
  const shape = (markdown: string): number[] => markdown.split("\n").map(countTableCells);
  const markdown = of(text);
  expect(shape(markdown)).toEqual(shape(of("")));
  expect(markdown).not.toMatch(/<script|<img|\]\(|@team/);
}

function controlsNoTerminal<T>(of: (value: T) => string, value: T): void {
  const lines = of(value).split("\n");
  expect(lines.filter((line) => /[\p{Cc}\p{Cf}\p{Cs}]/u.test(line))).toEqual([]);
}

async function isJunit(of: (document: ReportDocument) => string, document: ReportDocument): Promise<void> {
  const xml = of(document);
  expect(XMLValidator.validate(xml)).toBe(true);
  // oxlint-disable-next-line no-control-regex -- these are what XML 1.0 forbids
  expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
  expect(xml.isWellFormed()).toBe(true);
  const ofTarget = whyNothingJudged(document.report) === null ? 0 : 1;
  expect(countJunitCases(xml)).toBe(document.report.findings.length + ofTarget);
}

function isAnImageAlone(of: (document: ReportDocument) => string, document: ReportDocument): void {
  expect(XMLValidator.validate(of(document))).toBe(true);
  expect(of(document)).not.toMatch(/<script|<image|<a |href/);
}

function isHarmlessMarkdown(of: (document: ReportDocument) => string, document: ReportDocument): void {
  const lines = linesOutsideFences(of(document));
  expectHarmless(lines.filter((line) => !line.startsWith("## Conformance: ") && !/^### [A-Z][\w ,:]+$/.test(line)));
  const rows = lines.flatMap((line, at) =>
    line.startsWith("| ") && lines[at - 1]?.startsWith("|") === true ? [at] : [],
  );
  expect(rows.filter((at) => countTableCells(lines[at] ?? "") !== countTableCells(lines[at - 1] ?? ""))).toEqual([]);
  expect(lines.filter((line) => line.startsWith("<details>"))).toHaveLength(
    lines.filter((line) => line === "</details>").length,
  );
}

function isOneCommandALine(of: (document: ReportDocument) => string, document: ReportDocument): void {
  for (const line of of(document)
    .split("\n")
    .filter((each) => each !== "")) {
    expect(line).toMatch(/^::(?:error|warning) title=[^:,\r\n]*::[^\r\n]*$/);
    expect(line).not.toMatch(/%(?!25|0D|0A|3A|2C)/);
  }
}

describe("JUnit by the schema of CI systems", () => {
  it("is valid whatever a target says", async () => {
    for (const document of fc.sample(hostileDocument, 10))
      expect(await junitSchemaErrors(renderJunit(document))).toEqual([]);
  });
});
