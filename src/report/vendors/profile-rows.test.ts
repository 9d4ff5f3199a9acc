import { describe, expect, it } from "vitest";

import { clauseIds, clauseOf } from "../../spec/clauses.ts";
import { type Profile, profileOf } from "../../spec/profiles.ts";
import type { ReportFinding } from "../model/finding.ts";
import { sampleFinding } from "../testing/sample.ts";
import { compareVendors } from "./comparison.ts";
import { formatProfileCell } from "./profile-rows.ts";
import { unjudgedVendor, sampleVendor } from "./testing/vendors.ts";
import type { Vendor } from "./vendor.ts";

const createdAt = "2030-01-01T00:00:00.000Z";
const mustsOf = (profile: Profile): ReportFinding[] =>
  clauseIds
    .filter((id) => profileOf(id) === profile && clauseOf(id).level === "must" && clauseOf(id).untestable === undefined)
    .map((clause) => sampleFinding({ clause }));
const skipped = (findings: readonly ReportFinding[]): ReportFinding[] =>
  findings.map(({ clause }) => sampleFinding({ clause, outcome: "skipped", reason: "no webhook" }));
const broken = sampleFinding({ clause: "OPS-1", outcome: "fail", expected: "a", actual: "b" });

const order = (vendors: readonly Vendor[]): string[] =>
  compareVendors(vendors, createdAt).vendors.map(({ name }) => name);

describe("vendors are ordered", () => {
  const cases: readonly (readonly [string, readonly Vendor[], readonly string[]])[] = [
    [
      "by conformant profiles less broken ones",
      [
        unjudgedVendor("down", "No answer."),
        sampleVendor("broken", [broken]),
        sampleVendor("two less one", [...mustsOf("streaming"), ...mustsOf("signing"), broken]),
        sampleVendor("two", [...mustsOf("streaming"), ...mustsOf("signing")]),
      ],
      ["two", "two less one", "broken", "down"],
    ],
    [
      "then by must clauses exercised",
      [sampleVendor("few", mustsOf("core").slice(0, 3)), sampleVendor("more", mustsOf("core").slice(0, 5))],
      ["more", "few"],
    ],
    ["then as in the file", [sampleVendor("B", []), sampleVendor("A", []), sampleVendor("C", [])], ["B", "A", "C"]],
  ];

  it.each(cases)("%s", (_, vendors, expected) => {
    expect(order(vendors)).toEqual(expected);
  });
});

describe("the verdict for a profile", () => {
  it("tells not offered from could not be tried", () => {
    const vendor = sampleVendor("A", [...mustsOf("streaming"), ...skipped(mustsOf("webhooks")), broken]);
    const { report } = vendor.document;
    const offers = ["streaming", "webhooks", "operations"] as const;
    const offering = {
      ...vendor,
      document: { ...vendor.document, report: { ...report, target: { ...report.target, offers } } },
    };
    const { profiles } = compareVendors([offering], createdAt);
    const texts = Object.fromEntries(
      profiles.map(({ profile, cells }) => [profile, formatProfileCell(cells[0] ?? null)]),
    );
    expect(texts).toMatchObject({
      streaming: expect.stringMatching(/^✓ conformant: 100 % exercised, (\d+) of \1$/),
      webhooks: expect.stringMatching(/^– could not be tried: 0 of \d+$/),
      signing: "– not offered",
      operations: expect.stringMatching(/^✕ nonconformant: \d+ % exercised, 1 of \d+$/),
    });
  });
});
