import { describe, expect, it } from "vitest";

import { sampleFinding } from "../testing/sample.ts";
import { compareVendors } from "./comparison.ts";
import { renderVendorsMarkdown } from "./markdown.ts";
import { formatDifference, formatSwitch } from "./switches.ts";
import { sampleObservation, sampleVendor, unjudgedVendor } from "./testing/vendors.ts";

const createdAt = "2030-01-01T00:00:00.000Z";
const follows = (clause: string, reading: string) => sampleFinding({ clause, reading });
const limit = (outcome: "pass" | "fail") =>
  sampleFinding({
    clause: "LIM-1",
    instance: "free",
    outcome,
    ...(outcome === "fail" ? { expected: "10 admitted", actual: "9 admitted" } : {}),
  });

const acme = sampleVendor("Acme", [
  sampleFinding(),
  follows("ERR-2", "form-a"),
  follows("ERR-3", "form-a"),
  follows("INV-9", "refused"),
  sampleObservation("LST-9", "nine fields"),
  sampleObservation("INV-21", "it took 2 s"),
  limit("pass"),
]);
const borealis = sampleVendor("Borealis", [
  sampleFinding({ outcome: "fail", expected: "a", actual: "b" }),
  follows("ERR-2", "form-b"),
  follows("ERR-3", "form-b"),
  follows("INV-9", "accepted"),
  sampleObservation("LST-9", "two fields"),
  sampleObservation("INV-21", "it took 9 s"),
  limit("fail"),
]);
const { report } = borealis.document;
const offers = ["core", "streaming", "limits"] as const;
const smaller = {
  ...borealis,
  document: { ...borealis.document, report: { ...report, target: { ...report.target, offers } } },
};

describe("the price of a switch", () => {
  it("lists profiles, broken clauses, error forms, readings, limits and gaps, in this order", () => {
    const { switches } = compareVendors([acme, smaller], createdAt);
    expect(switches.map(formatSwitch)).toEqual(["From Acme to Borealis: 7 differences"]);
    expect(switches[0]?.differences.map(formatDifference)).toEqual([
      "profile, webhooks, operations, signing, access: “offered” becomes “not offered”.",
      "broken clause, SSE-5: “holds” becomes “broken: expected a; got b”.",
      "broken clause, LIM-1: “holds” becomes “broken: expected 10 admitted; got 9 admitted (free)”.",
      "error form, ERR-2, ERR-3: “form-a” becomes “form-b”.",
      "reading, INV-9: “refused” becomes “accepted”.",
      "limit, free, in a minute: “✓ as published” becomes “✕ LIM-1: 9 admitted”.",
      "gap, LST-9: “nine fields” becomes “two fields”.",
    ]);
  });

  const five = ["A", "B", "C", "D", "E"].map((name) => sampleVendor(name, []));
  const cases = [
    ["every pair of up to four vendors", five.slice(0, 3), null, ["A B", "A C", "B C"]],
    ["the first of more vendors and each other one", five, null, ["A B", "A C", "A D", "A E"]],
    ["a chosen vendor and each other one", five.slice(0, 3), "B", ["B A", "B C"]],
    ["nothing from a vendor that was not judged", [...five.slice(0, 3), unjudgedVendor("F", "No answer.")], "F", []],
  ] as const;

  it.each(cases)("compares %s", (_, vendors, from, pairs) => {
    const { switches } = compareVendors(vendors, createdAt, from);
    expect(switches.map((each) => `${each.from} ${each.to}`)).toEqual(pairs);
  });

  it("stands in the Markdown, a list for each pair", () => {
    expect(renderVendorsMarkdown(compareVendors([acme, smaller], createdAt))).toMatch(
      /### From Acme to Borealis: 7 differences\n\n- profile, webhooks/,
    );
  });
});
