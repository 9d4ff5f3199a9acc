import type { KnownFailure } from "../model/baseline.ts";
import type { ReportDocument, Report, ReportFinding } from "../model/report.ts";
import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
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
import {
  type FailurePolicy,
  defaultPolicy,
  type TestStatus,
  type TestStatuses,
  testStatusesOf,
} from "../model/test-status.ts";
import { whyNothingJudged } from "../model/verdict.ts";
import { findingMs } from "./timing.ts";
import { element, type XmlElement, xmlDocument } from "./xml.ts";

/** A finding as CI systems count it. */
interface Case {
  readonly finding: ReportFinding;
  readonly standing: TestStatus;
  readonly ms: number;
}

/**
 * A report as JUnit XML: a suite for each section, a case for each finding. `<failure>` where the run failed of it, `<error>` where the harness
 * did, `<skipped>` where it was not exercised or is a known failure; what was observed, noted or warned of stands in `<system-out>` of a case
 * that passes. An entry of the baseline that no longer fails is a case of its own, that fails; so is, as an `<error>`, a target that nothing could
 * be asked of: all else is skipped then, and nobody shall take that for success.
 */
export function renderJunit(document: ReportDocument, rules: FailurePolicy = defaultPolicy): string {
  const { report } = document;
  const view = findingViewOf(document);
  const standings = testStatusesOf(report.findings, rules);
  const unjudged = whyNothingJudged(report);
  const cases = report.findings.map((finding): Case => ({
    finding,
    standing: standings.of(finding),
    ms: findingMs(finding, view.exchanges),
  }));
  const root = {
    name: xmlLine(`Agent Hosting conformance: ${report.target.name}`),
    tests: cases.length + standings.stale.length + (unjudged === null ? 0 : 1),
    failures: countOf(cases, "failed") + standings.stale.length,
    errors: countOf(cases, "harness failed") + (unjudged === null ? 0 : 1),
    time: seconds(report.durationMs),
  };
  return xmlDocument(
    element("testsuites", root, [
      ...(unjudged === null ? [] : [unjudgedSuite(unjudged, report)]),
      ...[...Map.groupBy(cases, ({ finding }) => finding.suite)].map(([suite, members]) =>
        suiteOf(suite, members, report, view),
      ),
      ...(standings.stale.length === 0 ? [] : [staleSuite(standings, report)]),
    ]),
  );
}

const countOf = (cases: readonly Case[], kind: TestStatus["kind"]): number =>
  cases.filter(({ standing }) => standing.kind === kind).length;

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

function suiteOf(name: string, cases: readonly Case[], report: Report, view: FindingView): XmlElement {
  const suite = {
    name: xmlLine(name),
    tests: cases.length,
    failures: countOf(cases, "failed"),
    errors: countOf(cases, "harness failed"),
    skipped: countOf(cases, "skipped") + countOf(cases, "known"),
    time: seconds(cases.reduce((sum, { ms }) => sum + ms, 0)),
    timestamp: timestampOf(report),
  };
  return element("testsuite", suite, [propertiesOf(report), ...cases.map((each) => caseOf(each, view))]);
}

const timestampOf = ({ started }: Report): string => started.slice(0, "2026-01-31T02:00:00".length);

function propertiesOf({ verdict, suite: { version, clauses }, target }: Report): XmlElement {
  const values = { verdict, suite: version, clauses, target: target.name, baseUrl: target.baseUrl };
  const properties = Object.entries(values).map(([name, value]) =>
    element("property", { name, value: xmlLine(value) }),
  );
  return element("properties", {}, properties);
}

function caseOf({ finding, standing, ms }: Case, view: FindingView): XmlElement {
  const name = xmlLine([findingName(finding), sentenceOf(finding)].filter((part) => part !== "").join(" "), 400);
  return element(
    "testcase",
    { name, classname: classOf(finding.suite), time: seconds(ms) },
    whatCameOf(finding, standing, view),
  );
}

function whatCameOf(finding: ReportFinding, standing: TestStatus, view: FindingView): XmlElement[] {
  switch (standing.kind) {
    case "failed": {
      const message = xmlLine(breachLine(finding), 500);
      return [withText("failure", { type: finding.level, message }, breachLines(finding, view))];
    }
    case "harness failed": {
      const message = xmlLine(finding.reason ?? "");
      return [withText("error", { type: "harness", message }, [harnessFailed])];
    }
    case "skipped":
      return [element("skipped", { message: xmlLine(skipLine(finding), 600) })];
    case "known":
      return [element("skipped", { message: xmlLine(`known failure: ${standing.reason}`) })];
    case "passed": {
      const lines = saidLines(finding, view);
      return lines.length === 0 ? [] : [withText("system-out", {}, lines)];
    }
  }
}

const harnessFailed = "The harness itself failed; this is not the target's fault.";

/** What a case that passes has to say. */
function saidLines(finding: ReportFinding, view: FindingView): string[] {
  const { outcome, reason, reading } = finding;
  if (outcome === "warning" || outcome === "note") return [outcome, ...breachLines(finding, view)];
  return [
    ...(outcome === "observed" ? [`observed  ${sanitizeLine(reason ?? "", 2000)}`] : []),
    ...(reading === undefined ? [] : [`reading  ${sanitizeLine(reading)}`]),
  ];
}

const withText = (name: string, attributes: XmlElement["attributes"], lines: readonly string[]): XmlElement =>
  element(name, attributes, xmlText(lines.join("\n")));

function unjudgedSuite(sentence: string, report: Report): XmlElement {
  const suite = {
    name: targetSuite,
    tests: 1,
    failures: 0,
    errors: 1,
    skipped: 0,
    time: seconds(report.durationMs),
    timestamp: timestampOf(report),
  };
  const names = { name: targetCase, classname: classOf(targetSuite), time: seconds(report.durationMs) };
  const error = withText("error", { type: report.verdict, message: xmlLine(sentence, 500) }, [sentence]);
  return element("testsuite", suite, [propertiesOf(report), element("testcase", names, [error])]);
}

function staleSuite({ stale }: TestStatuses, report: Report): XmlElement {
  const suite = {
    name: "Baseline",
    tests: stale.length,
    failures: stale.length,
    errors: 0,
    skipped: 0,
    time: seconds(0),
    timestamp: timestampOf(report),
  };
  return element("testsuite", suite, stale.map(staleCase));
}

function staleCase(entry: KnownFailure): XmlElement {
  const failure = { type: "baseline", message: "No longer fails: take it out of the baseline." };
  return element("testcase", { name: xmlLine(nameOf(entry)), classname: classOf("Baseline"), time: seconds(0) }, [
    withText("failure", failure, [`known as: ${entry.reason}`]),
  ]);
}

const nameOf = ({ check, instance }: KnownFailure): string =>
  instance === undefined ? check : `${check} (${instance})`;

/** CI systems take what stands before a point for a package. */
const classOf = (suite: string): string => `conformance.${xmlLine(suite).replaceAll(".", " ")}`;

/** Text as XML 1.0 can hold it: what may not stand there, as a reference neither, becomes a visible escape. */
const xmlText = (text: string): string => withoutForbidden(sanitize(text));

/** The same on one line, for attributes. */
const xmlLine = (text: string, most = 300): string => withoutForbidden(sanitizeLine(text, most));

/** Of what `harmless` leaves, XML 1.0 forbids just these two. */
const withoutForbidden = (text: string): string =>
  text.replace(/[\uFFFE\uFFFF]/g, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
