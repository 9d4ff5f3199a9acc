import { readFileSync } from "node:fs";

import * as fc from "fast-check";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { describe, expect, it } from "vitest";
import { validateXML } from "xmllint-wasm";

import { renderJunit } from "./junit.ts";
import { hostileDocument } from "./testing/hostile.ts";
import { kinds } from "./testing/kinds.ts";

/** The schema of Jenkins' xUnit plug-in, by which other CI systems go as well. */
const schema = readFileSync(new URL("testing/junit-10.xsd", import.meta.url), "utf8");

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

interface Read {
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

const read = (xml: string): Read => parser.parse(xml) as Read;
const suitesOf = (xml: string): readonly ReadSuite[] => read(xml).testsuites.testsuite ?? [];
const caseOf = (xml: string, name: string): ReadCase | undefined =>
  suitesOf(xml)
    .flatMap(({ testcase }) => testcase)
    .find((each) => each.name.startsWith(name));

const problemsOf = async (xml: string): Promise<readonly string[]> => {
  const { errors } = await validateXML({ xml: [{ fileName: "junit.xml", contents: xml }], schema: [schema] });
  return errors.map(({ message }) => message);
};

describe("JUnit XML", () => {
  it.each(Object.entries(kinds))("is what CI systems read, of a report that is %s", async (_, document) => {
    const xml = renderJunit(document);
    expect(await problemsOf(xml)).toEqual([]);
    const suites = suitesOf(xml);
    expect(suites.flatMap(({ testcase }) => testcase)).toHaveLength(document.report.findings.length);
    for (const { testcase, tests, failures, errors, skipped } of suites) {
      expect(Number(tests)).toBe(testcase.length);
      expect(Number(failures)).toBe(testcase.filter((each) => each.failure !== undefined).length);
      expect(Number(errors)).toBe(testcase.filter((each) => each.error !== undefined).length);
      expect(Number(skipped)).toBe(testcase.filter((each) => each.skipped !== undefined).length);
    }
  });

  it("shows of a failure what was expected, what came, the exchange and a command", () => {
    const xml = renderJunit(kinds.broken);
    const failure = caseOf(xml, "SSE-5")?.failure;
    expect(failure).toMatchObject({ type: "must", message: "expected one end; got two ends" });
    expect(failure?.text).toContain("> POST http://127.0.0.1:8080/v1/agents/echo/invoke");
    expect(failure?.text).toContain('-H "Authorization: Bearer $CONFORMANCE_API_KEY"');
    expect(caseOf(xml, "SSE-5")?.classname).toBe("conformance.Stream");
  });

  it.each([
    ["SSE-4", {}],
    ["ERR-1 (free)", { "system-out": expect.stringContaining("warning") }],
    ["ERR-2", { "system-out": expect.stringContaining("note") }],
    ["ERR-3", { "system-out": "observed  answers 404" }],
    ["ERR-4", { error: expect.objectContaining({ message: "TypeError: x is undefined" }) }],
  ])("says of %s what came of it", (name, expected) => {
    expect(caseOf(renderJunit(kinds.broken), name)).toMatchObject(expected);
  });

  it("says of what was skipped why, and what would enable it", () => {
    const skipped = caseOf(renderJunit(kinds.partial), "SSE-15")?.skipped;
    expect(skipped?.message).toBe("needs an agent that fails; enabled by agents.failing");
  });

  it("fails by what failed the run: strict warnings, no known failures, stale entries", async () => {
    const baseline = [
      { check: "SSE-5", reason: "fixed in 2.3" },
      { check: "SSE-4", reason: "was broken" },
    ];
    const xml = renderJunit(kinds.broken, { strict: true, baseline });
    expect(await problemsOf(xml)).toEqual([]);
    expect(caseOf(xml, "SSE-5")?.skipped?.message).toBe("known failure: fixed in 2.3");
    expect(caseOf(xml, "ERR-1 (pro)")?.failure?.type).toBe("should");
    expect(suitesOf(xml).at(-1)).toMatchObject({ name: "Baseline", failures: "1" });
    // HOOK-1, the warning in two tiers, and the stale entry.
    expect(read(xml).testsuites).toMatchObject({ failures: "4", tests: "9" });
  });

  it("stays well-formed and valid whatever a target says", () => {
    fc.assert(
      fc.property(hostileDocument, (document) => {
        const xml = renderJunit(document);
        expect(XMLValidator.validate(xml)).toBe(true);
        // oxlint-disable-next-line no-control-regex -- these are what XML 1.0 forbids
        expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
        expect(xml.isWellFormed()).toBe(true);
        const count = suitesOf(xml).reduce((sum, { testcase }) => sum + testcase.length, 0);
        expect(count).toBe(document.report.findings.length);
      }),
    );
  });

  it("is valid by the schema whatever a target says", async () => {
    for (const document of fc.sample(hostileDocument, 10)) expect(await problemsOf(renderJunit(document))).toEqual([]);
  });
});
