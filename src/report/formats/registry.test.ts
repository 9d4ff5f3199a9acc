import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import type { ReportDocument } from "../model/report.ts";
import { type FormatName, type FormatParts, formatNames, formats, unavailableReason } from "./registry.ts";
import { sampleReportsByKind } from "./testing/sample-reports-by-kind.ts";

const digests = () => ({ "evidence.json": "0".repeat(64) });
const cases = formatNames.flatMap((name) =>
  Object.entries(sampleReportsByKind).map(([kind, document]) => ({ name, kind, document })),
);

/** Returns why a format could not be rendered and parsed again; `null` if both succeeded. */
function problemOf(name: FormatName, document: ReportDocument, parts: FormatParts): string | null {
  try {
    const rendered = formats[name].render(document, parts);
    const text = typeof rendered === "string" ? rendered : [...rendered].join("");
    if (formats[name].contentType === "application/json") JSON.parse(text);
    return text === "" ? "it is empty" : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("every format", () => {
  it.each(cases)(
    "$name of a report of the kind $kind is made, or says which input is missing",
    ({ name, document }) => {
      const missing = unavailableReason(name, document);
      expect(problemOf(name, document, missing === null ? { digests } : {})).toBe(missing);
    },
  );

  it("is in docs/formats.md under its flag", () => {
    const page = readFileSync(new URL("../../../docs/formats.md", import.meta.url), "utf8");
    const flags = [...page.matchAll(/^\| `--([a-z-]+)` +\|/gm)].map(([, flag = ""]) => flag);
    const names = formatNames.map((name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
    expect(flags.toSorted()).toEqual(names.toSorted());
  });
});
