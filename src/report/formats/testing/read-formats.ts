import { readFileSync } from "node:fs";
import { XMLParser } from "fast-xml-parser";
import { validateXML } from "xmllint-wasm";
import { Ajv } from "ajv";
import harSchemas from "har-schema";
import { expect } from "vitest";

/** The JUnit schema of Jenkins' xUnit plug-in, which other CI systems follow too. */
const junitSchema = readFileSync(new URL("junit-10.xsd", import.meta.url), "utf8");

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
  const { errors } = await validateXML({ xml: [{ fileName: "junit.xml", contents: xml }], schema: [junitSchema] });
  return errors.map(({ message }) => message);
};

/** Returns the number of test cases. */
export const countJunitCases = (xml: string): number =>
  junitSuites(xml).reduce((sum, { testcase }) => sum + testcase.length, 0);

/** A validator for the HAR schema, with lax settings: the schema uses an older draft of JSON Schema, and it demands URLs that parse. */
const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false });
for (const [name, schema] of Object.entries(harSchemas))
  ajv.addSchema({ ...schema, $id: `${name}.json`, $schema: "http://json-schema.org/draft-07/schema#" });

export interface HarEntry {
  readonly startedDateTime: string;
  readonly time: number;
  readonly timings: { readonly send: number; readonly wait: number; readonly receive: number };
  readonly request: { readonly queryString: readonly unknown[]; readonly postData?: { readonly text: string } };
  readonly response: {
    readonly status: number;
    readonly redirectURL: string;
    readonly content: Readonly<Record<string, unknown>>;
    readonly _error?: string;
  };
}

/** Parses a HAR archive and returns its entries. Throws if the archive does not match the schema. */
export function parseHar(text: string): readonly HarEntry[] {
  const har: unknown = JSON.parse(text);
  expect(ajv.validate("har.json", har), ajv.errorsText()).toBe(true);
  return (har as { log: { entries: readonly HarEntry[] } }).log.entries;
}

/** Returns the lines of a Markdown text that are outside fenced code blocks. Throws if a block does not end. */
export function linesOutsideFences(markdown: string): string[] {
  let fence = "";
  const outside: string[] = [];
  for (const line of markdown.split("\n")) {
    const [run = ""] = /^`{3,}/.exec(line) ?? [];
    if (fence === "" && run !== "") fence = run;
    else if (fence !== "" && line === fence) fence = "";
    else if (fence === "") outside.push(line);
  }
  expect(fence).toBe("");
  return outside;
}

/** Expects that lines contain no markup except the tags that the renderer writes. */
export function expectHarmless(lines: readonly string[]): void {
  for (const line of lines) {
    const rest = line
      .replace(/<\/?(?:code|details|summary|b|sub)>|<!-- -->|&#\d+;/g, "")
      .replace(/\*\*(\d+ failed|nonconformant)\*\*/g, "");
    expect(rest).not.toMatch(/[<>&[\]`*_@$~{}\\]/);
    expect(rest).not.toMatch(/https?:|www\.|[^\n]#\d/);
  }
}

export const countTableCells = (line: string): number => line.split("|").length;
