import { readFileSync } from "node:fs";

import { XMLParser } from "fast-xml-parser";
import { validateXML } from "xmllint-wasm";

/** The JUnit schema of Jenkins' xUnit plug-in, which other CI systems follow too. */
const schema = readFileSync(new URL("junit-10.xsd", import.meta.url), "utf8");

interface ReadCase {
  readonly name: string;
  readonly classname: string;
  readonly failure?: { readonly message: string; readonly type: string; readonly text: string };
  readonly error?: { readonly message: string };
  readonly skipped?: { readonly message: string };
  readonly "system-out"?: string;
}

interface ReadSuite {
  readonly name: string;
  readonly tests: string;
  readonly failures: string;
  readonly errors: string;
  readonly skipped: string;
  readonly testcase: readonly ReadCase[];
}

interface ParsedJunit {
  readonly testsuites: { readonly tests: string; readonly failures: string; readonly testsuite?: readonly ReadSuite[] };
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  textNodeName: "text",
  parseTagValue: false,
  trimValues: false,
  isArray: (name) => ["testsuite", "testcase"].includes(name),
});

export const read = (xml: string): ParsedJunit => parser.parse(xml) as ParsedJunit;
export const suitesOf = (xml: string): readonly ReadSuite[] => read(xml).testsuites.testsuite ?? [];
export const caseOf = (xml: string, name: string): ReadCase | undefined =>
  suitesOf(xml)
    .flatMap(({ testcase }) => testcase)
    .find((each) => each.name.startsWith(name));

export const problemsOf = async (xml: string): Promise<readonly string[]> => {
  const { errors } = await validateXML({ xml: [{ fileName: "junit.xml", contents: xml }], schema: [schema] });
  return errors.map(({ message }) => message);
};

/** Returns the number of test cases. */
export const casesIn = (xml: string): number => suitesOf(xml).reduce((sum, { testcase }) => sum + testcase.length, 0);
