import { readFileSync } from "node:fs";

import { XMLParser } from "fast-xml-parser";
import { validateXML } from "xmllint-wasm";

/** The JUnit schema of Jenkins' xUnit plug-in, which other CI systems follow too. */
const schema = readFileSync(new URL("junit-10.xsd", import.meta.url), "utf8");

interface JunitCase {
  readonly name: string;
  readonly classname: string;
  readonly failure?: { readonly message: string; readonly type: string; readonly text: string };
  readonly error?: { readonly message: string };
  readonly skipped?: { readonly message: string };
  readonly "system-out"?: string;
}

interface JunitSuite {
  readonly name: string;
  readonly tests: string;
  readonly failures: string;
  readonly errors: string;
  readonly skipped: string;
  readonly testcase: readonly JunitCase[];
}

interface ParsedJunit {
  readonly testsuites: {
    readonly tests: string;
    readonly failures: string;
    readonly testsuite?: readonly JunitSuite[];
  };
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  textNodeName: "text",
  parseTagValue: false,
  trimValues: false,
  isArray: (name) => ["testsuite", "testcase"].includes(name),
});

export const parseJunit = (xml: string): ParsedJunit => parser.parse(xml) as ParsedJunit;
export const junitSuites = (xml: string): readonly JunitSuite[] => parseJunit(xml).testsuites.testsuite ?? [];
export const findJunitCase = (xml: string, name: string): JunitCase | undefined =>
  junitSuites(xml)
    .flatMap(({ testcase }) => testcase)
    .find((each) => each.name.startsWith(name));

export const junitSchemaErrors = async (xml: string): Promise<readonly string[]> => {
  const { errors } = await validateXML({ xml: [{ fileName: "junit.xml", contents: xml }], schema: [schema] });
  return errors.map(({ message }) => message);
};

/** Returns the number of test cases. */
export const countJunitCases = (xml: string): number =>
  junitSuites(xml).reduce((sum, { testcase }) => sum + testcase.length, 0);
