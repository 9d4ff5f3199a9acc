import { create } from "xmlbuilder2";
import type { XMLBuilder } from "xmlbuilder2/lib/interfaces.js";

import type { KnownFailure } from "../baseline.ts";
import type { ReportDocument, Report, ReportFinding } from "../report.ts";
import { harmless, harmlessLine } from "../../base/harmless.ts";
import {
  breachLine,
  breachLines,
  findingName,
  type FindingView,
  findingViewOf,
  sentenceOf,
  skipLine,
  targetCase,
  targetSuite,
} from "./finding-text.ts";
import { type FormatRules, plainRules, type Standing, type Standings, standingsOf } from "./rules.ts";
import { nothingJudged } from "../verdict.ts";
import { findingMs } from "./timing.ts";

/** A finding as CI systems count it. */
interface Case {
  readonly finding: ReportFinding;
  readonly standing: Standing;
  readonly ms: number;
}

/**
 * A report as JUnit XML: a suite for each section, a case for each finding. `<failure>` where the run failed of it, `<error>` where the harness
 * did, `<skipped>` where it was not exercised or is a known failure; what was observed, noted or warned of stands in `<system-out>` of a case
 * that passes. An entry of the baseline that no longer fails is a case of its own, that fails; so is, as an `<error>`, a target that nothing could
 * be asked of: all else is skipped then, and nobody shall take that for success.
 */
export function renderJunit(document: ReportDocument, rules: FormatRules = plainRules): string {
  const { report } = document;
  const view = findingViewOf(document);
  const standings = standingsOf(report.findings, rules);
  const unjudged = nothingJudged(report);
  const cases = report.findings.map((finding): Case => ({
    finding,
    standing: standings.of(finding),
    ms: findingMs(finding, view.exchanges),
  }));
  const root = create({ version: "1.0", encoding: "UTF-8" }).ele("testsuites", {
    name: xmlLine(`Agent Hosting conformance: ${report.target.name}`),
    tests: cases.length + standings.stale.length + (unjudged === null ? 0 : 1),
    failures: countOf(cases, "failed") + standings.stale.length,
    errors: countOf(cases, "harness failed") + (unjudged === null ? 0 : 1),
    time: seconds(report.durationMs),
  });
  if (unjudged !== null) addUnjudged(root, unjudged, report);
  for (const [suite, members] of Map.groupBy(cases, ({ finding }) => finding.suite))
    addSuite(root, suite, members, report, view);
  if (standings.stale.length > 0) addStale(root, standings, report);
  return `${root.end({ prettyPrint: true })}\n`;
}

const countOf = (cases: readonly Case[], kind: Standing["kind"]): number =>
  cases.filter(({ standing }) => standing.kind === kind).length;

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

function addSuite(root: XMLBuilder, name: string, cases: readonly Case[], report: Report, view: FindingView): void {
  const suite = root.ele("testsuite", {
    name: xmlLine(name),
    tests: cases.length,
    failures: countOf(cases, "failed"),
    errors: countOf(cases, "harness failed"),
    skipped: countOf(cases, "skipped") + countOf(cases, "known"),
    time: seconds(cases.reduce((sum, { ms }) => sum + ms, 0)),
    timestamp: report.started.slice(0, "2026-01-31T02:00:00".length),
  });
  addProperties(suite, report);
  for (const each of cases) addCase(suite, each, view);
}

function addProperties(suite: XMLBuilder, { verdict, suite: { version, clauses }, target }: Report): void {
  const properties = suite.ele("properties");
  const values = { verdict, suite: version, clauses, target: target.name, baseUrl: target.baseUrl };
  for (const [name, value] of Object.entries(values)) properties.ele("property", { name, value: xmlLine(value) });
}

function addCase(suite: XMLBuilder, { finding, standing, ms }: Case, view: FindingView): void {
  const element = suite.ele("testcase", {
    name: xmlLine([findingName(finding), sentenceOf(finding)].filter((part) => part !== "").join(" "), 400),
    classname: classOf(finding.suite),
    time: seconds(ms),
  });
  switch (standing.kind) {
    case "failed":
      return addText(element, "failure", breachLines(finding, view), {
        type: finding.level,
        message: xmlLine(breachLine(finding), 500),
      });
    case "harness failed":
      return addText(element, "error", ["The harness itself failed; this is not the target's fault."], {
        type: "harness",
        message: xmlLine(finding.reason ?? ""),
      });
    case "skipped":
      return void element.ele("skipped", { message: xmlLine(skipLine(finding), 600) });
    case "known":
      return void element.ele("skipped", { message: xmlLine(`known failure: ${standing.reason}`) });
    case "passed": {
      const lines = saidLines(finding, view);
      return lines.length === 0 ? undefined : addText(element, "system-out", lines);
    }
  }
}

/** What a case that passes has to say. */
function saidLines(finding: ReportFinding, view: FindingView): string[] {
  const { outcome, reason, reading } = finding;
  if (outcome === "warning" || outcome === "note") return [outcome, ...breachLines(finding, view)];
  return [
    ...(outcome === "observed" ? [`observed  ${harmlessLine(reason ?? "", 2000)}`] : []),
    ...(reading === undefined ? [] : [`reading  ${harmlessLine(reading)}`]),
  ];
}

function addText(
  element: XMLBuilder,
  name: string,
  lines: readonly string[],
  attributes: Readonly<Record<string, string>> = {},
): void {
  element.ele(name, attributes).txt(xmlText(lines.join("\n")));
}

function addUnjudged(root: XMLBuilder, sentence: string, report: Report): void {
  const suite = root.ele("testsuite", {
    name: targetSuite,
    tests: 1,
    failures: 0,
    errors: 1,
    skipped: 0,
    time: seconds(report.durationMs),
    timestamp: report.started.slice(0, "2026-01-31T02:00:00".length),
  });
  addProperties(suite, report);
  const element = suite.ele("testcase", {
    name: targetCase,
    classname: classOf(targetSuite),
    time: seconds(report.durationMs),
  });
  addText(element, "error", [sentence], { type: report.verdict, message: xmlLine(sentence, 500) });
}

function addStale(root: XMLBuilder, { stale }: Standings, { started }: Report): void {
  const suite = root.ele("testsuite", {
    name: "Baseline",
    tests: stale.length,
    failures: stale.length,
    errors: 0,
    skipped: 0,
    time: seconds(0),
    timestamp: started.slice(0, "2026-01-31T02:00:00".length),
  });
  for (const entry of stale) {
    const element = suite.ele("testcase", {
      name: xmlLine(nameOf(entry)),
      classname: classOf("Baseline"),
      time: seconds(0),
    });
    addText(element, "failure", [`known as: ${entry.reason}`], {
      type: "baseline",
      message: "No longer fails: take it out of the baseline.",
    });
  }
}

const nameOf = ({ check, instance }: KnownFailure): string =>
  instance === undefined ? check : `${check} (${instance})`;

/** CI systems take what stands before a point for a package. */
const classOf = (suite: string): string => `conformance.${xmlLine(suite).replaceAll(".", " ")}`;

/** Text as XML 1.0 can hold it: what may not stand there, as a reference neither, becomes a visible escape. */
const xmlText = (text: string): string => withoutForbidden(harmless(text));

/** The same on one line, for attributes. */
const xmlLine = (text: string, most = 300): string => withoutForbidden(harmlessLine(text, most));

/** Of what `harmless` leaves, XML 1.0 forbids just these two. */
const withoutForbidden = (text: string): string =>
  text.replace(/[\uFFFE\uFFFF]/g, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
