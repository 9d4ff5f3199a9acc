import { describe, expect, it } from "vitest";

import { sampleFinding } from "../testing/sample.ts";
import { compareVendors } from "./comparison.ts";
import { renderVendorsMarkdown } from "./markdown.ts";
import type { VendorQuestion } from "./questions.ts";
import { sampleObservation, unjudgedVendor, sampleVendor } from "./testing/vendors.ts";
import type { Vendor } from "./vendor.ts";

const createdAt = "2030-01-01T00:00:00.000Z";
/** The questions for the vendor `A`. */
const asked = (...vendors: readonly Vendor[]): readonly VendorQuestion[] => {
  const { vendors: heads, questions } = compareVendors(vendors, createdAt);
  return questions[heads.findIndex(({ name }) => name === "A")] ?? [];
};
const skipped = (clause: string, reason: string, needs?: string) =>
  sampleFinding({ clause, outcome: "skipped", reason, ...(needs === undefined ? {} : { needs }) });
const follows = (clause: string, reading: string) => sampleFinding({ clause, reading });

describe("what to ask a vendor", () => {
  it("names must clauses that could not be tried, once for all with the same need", () => {
    const needs = "`agents.failing` in the target file: an agent that fails";
    const vendor = sampleVendor("A", [
      skipped("INV-3", "no 429"),
      skipped("ERR-13", "the target has no `agents.failing`", needs),
      skipped("SSE-5", "the target has no `agents.failing`", needs),
    ]);
    expect(asked(vendor)).toEqual([
      {
        about: "not exercised",
        clauses: ["ERR-13", "SSE-5"],
        text: `We could not try ERR-13, SSE-5: the target has no \`agents.failing\`. Can you provide ${needs}?`,
      },
      expect.objectContaining({
        text: expect.stringMatching(/^We could not try INV-3: no 429\. How can we see that it holds \(.+\)\?$/),
      }),
    ]);
  });

  it.each([
    ["a flag of the harness", skipped("INV-3", "no time", "a longer `--max-wait`")],
    ["the end of the run", skipped("INV-3", "the run stopped before anything could be judged")],
    ["advice", { ...skipped("SVC-1", "no agent", "`agents.slow` in the target file"), level: "should" as const }],
  ])("leaves out what %s left out", (_, finding) => {
    expect(asked(sampleVendor("A", [finding]))).toEqual([]);
  });

  it("names readings and gaps in which the vendor differs, and how others behave", () => {
    const questions = asked(
      sampleVendor("A", [
        follows("ERR-2", "form-b"),
        follows("ERR-3", "form-b"),
        sampleObservation("LST-9", "nine fields"),
      ]),
      sampleVendor("B", [
        follows("ERR-2", "form-a"),
        follows("ERR-3", "form-a"),
        sampleObservation("LST-9", "two fields"),
      ]),
      sampleVendor("C", [
        follows("ERR-2", "form-a"),
        follows("ERR-3", "form-a"),
        sampleObservation("LST-9", "nine fields"),
      ]),
      unjudgedVendor("D", "No answer."),
    );
    expect(questions.map(({ about, clauses }) => [about, clauses])).toEqual([
      ["reading", ["ERR-2", "ERR-3"]],
      ["gap", ["LST-9"]],
    ]);
    expect(questions[0]?.text).toBe("On ERR-2, ERR-3 you follow “form-b”; B, C: “form-a”. Will you keep to it?");
    expect(questions[1]?.text).toMatch(/^LST-9: .+ We saw “nine fields”; B: “two fields”\. May a client rely on it\?$/);
  });

  it("are at most ten, with some of each kind", () => {
    const clauses = [
      "INV-1",
      "INV-2",
      "INV-3",
      "INV-4",
      "INV-5",
      "INV-6",
      "INV-7",
      "INV-8",
      "INV-9",
      "INV-10",
      "INV-11",
    ];
    const many = clauses.map((clause) => skipped(clause, clause));
    const questions = asked(
      sampleVendor("A", [...many, sampleObservation("LST-9", "nine fields"), follows("ERR-2", "form-b")]),
      sampleVendor("B", [sampleObservation("LST-9", "two fields"), follows("ERR-2", "form-a")]),
    );
    expect(Map.groupBy(questions, ({ about }) => about)).toMatchObject(
      new Map([
        ["not exercised", { length: 8 }],
        ["reading", { length: 1 }],
        ["gap", { length: 1 }],
      ]),
    );
  });

  it("stands in the Markdown under the name of the vendor", () => {
    const all = compareVendors([sampleVendor("A", [skipped("INV-3", "no 429")])], createdAt);
    expect(renderVendorsMarkdown(all)).toMatch(/## What to ask\n\n.*\n\n### A\n\n1\. We could not try INV-3/);
  });
});
