import XmlBuilder from "fast-xml-builder";
import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { sumOf } from "../../base/numbers.ts";
import { defaultPolicy, type FailurePolicy } from "../model/failure-policy.ts";
import type { Report, ReportDocument } from "../model/report.ts";
import { type TestCase, testCasesOf } from "./test-cases.ts";

/** Renders a report as JUnit XML. `<error>` means that the harness failed, or nothing was judged. */
export function renderJunit(document: ReportDocument, policy: FailurePolicy = defaultPolicy): string {
  const { report } = document;
  const cases = testCasesOf(document, policy);
  const root = {
    name: xmlLine(`Agent Hosting conformance: ${report.target.name}`),
    tests: cases.length,
    failures: countByStatus(cases, "failed"),
    errors: countByStatus(cases, "harness failed"),
    time: formatSeconds(report.durationMs),
  };
  const suites = [...Map.groupBy(cases, ({ suite }) => suite)].map(([suite, members]) =>
    suiteElement(suite, members, report),
  );
  const declaration: XmlNode = { "?xml": [], ":@": { version: "1.0", encoding: "UTF-8" } };
  return `${xmlBuilder.build([declaration, xmlElement("testsuites", root, suites)])}\n`;
}

const countByStatus = (cases: readonly TestCase[], status: TestCase["status"]): number =>
  cases.filter((each) => each.status === status).length;

const formatSeconds = (ms: number): string => (ms / 1000).toFixed(3);

function suiteElement(name: string, cases: readonly TestCase[], report: Report): XmlNode {
  const suite = {
    name: xmlLine(name),
    tests: cases.length,
    failures: countByStatus(cases, "failed"),
    errors: countByStatus(cases, "harness failed"),
    skipped: countByStatus(cases, "skipped"),
    time: formatSeconds(sumOf(cases.map(({ ms }) => ms))),
    timestamp: report.started.slice(0, "2026-01-31T02:00:00".length),
  };
  return xmlElement("testsuite", suite, [propertiesElement(report), ...cases.map(caseElement)]);
}

function propertiesElement({ verdict, suite: { version, clauses, requirements }, target }: Report): XmlNode {
  const values = { verdict, suite: version, requirements, clauses, target: target.name, baseUrl: target.baseUrl };
  const properties = Object.entries(values).map(([name, value]) =>
    xmlElement("property", { name, value: xmlLine(value) }),
  );
  return xmlElement("properties", {}, properties);
}

function caseElement(testCase: TestCase): XmlNode {
  const { title, suite, ms } = testCase;
  // Replaces full stops in the suite's name, because CI systems take the text before a full stop for a package name.
  const classname = `conformance.${xmlLine(suite).replaceAll(".", " ")}`;
  return xmlElement(
    "testcase",
    { name: xmlLine(title, 400), classname, time: formatSeconds(ms) },
    resultElements(testCase),
  );
}

function resultElements({ status, type, message, details }: TestCase): XmlNode[] {
  const text = xmlText(details.join("\n"));
  switch (status) {
    case "failed":
      return [xmlElement("failure", { type, message: xmlLine(message, 500) }, text)];
    case "harness failed":
      return [xmlElement("error", { type, message: xmlLine(message, 500) }, text)];
    case "skipped":
      return [xmlElement("skipped", { message: xmlLine(message, 600) })];
    case "passed":
      return text === "" ? [] : [xmlElement("system-out", {}, text)];
  }
}

/**
 * Replaces characters that XML 1.0 forbids with visible escapes, such as `\u{ffff}`. XML 1.0 also forbids character
 * references to these characters, such as `&#xFFFF;`.
 */
const xmlText = (text: string): string => escapeForbidden(sanitize(text));

/** Like `xmlText`, but on one line, because a parser turns line feeds in attributes into spaces. */
const xmlLine = (text: string, max = 300): string => escapeForbidden(sanitizeLine(text, max));

const escapeForbidden = (text: string): string =>
  text.replace(/[\uFFFE\uFFFF]/g, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);

const textNodeKey = "#text";
const xmlBuilder = new XmlBuilder({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  textNodeName: textNodeKey,
  format: true,
  suppressEmptyNode: true,
  suppressBooleanAttributes: false,
});

/** An XML element in the form that `fast-xml-builder` takes: `{ [name]: content, ":@": attributes }`. */
type XmlNode = object;

function xmlElement(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: string | readonly XmlNode[] = "",
): XmlNode {
  const text = content === "" ? [] : [{ [textNodeKey]: content }];
  return { [name]: typeof content === "string" ? text : content, ":@": attributes };
}
