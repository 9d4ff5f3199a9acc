import { describe, expect, it } from "vitest";

import { sampleFinding } from "../testing/sample.ts";
import type { ReportFinding } from "./finding.ts";
import { causesToFix, failureCauses } from "./broken-clauses.ts";

const fail = (clause: string, actual: string, more: Partial<ReportFinding> = {}): ReportFinding =>
  sampleFinding({ check: clause, clause, outcome: "fail", expected: "it holds", actual, ...more });

const brokenCoverage = (of: string, kind: string): NonNullable<ReportFinding["seen"]> => ({
  looked: 1,
  broken: 1,
  cells: [{ of, kind, looked: 1, broken: 1 }],
  unseen: [],
});

const namesOf = (findings: readonly ReportFinding[]): string[][] =>
  failureCauses({ findings }).map(({ broken }) => broken.map(({ group }) => group.clause));

describe("causes of failures", () => {
  it.each<[string, readonly ReportFinding[], string[][]]>([
    [
      "one missing header is one cause, and an unrelated bug another, which is worse for a client",
      [
        fail("HDR-1", "on 190 of 217 responses: missing: X-RateLimit-Reset", { evidence: ["x1"] }),
        fail("HDR-2", "on 9 of 9 responses: missing: X-RateLimit-Reset", { evidence: ["x7"] }),
        fail("HDR-6", "missing: X-RateLimit-Reset", { evidence: ["x9"] }),
        fail("INV-2", "a text", { evidence: ["x1"] }),
      ],
      [["INV-2"], ["HDR-1", "HDR-2", "HDR-6"]],
    ],
    [
      "one wrong status is one cause, whatever the requests",
      [
        fail("ERR-1", "on 66 of 266 responses: 422", { expected: "400", evidence: ["x37"] }),
        fail("INV-10", '422 with the code "MISSING"', { expected: "400 with the code MISSING", evidence: ["x40"] }),
      ],
      [["ERR-1", "INV-10"]],
    ],
    [
      "two header families are two causes",
      [fail("HDR-1", "missing: X-RateLimit-Reset"), fail("HDR-2", "missing: X-RateLimit-Limit")],
      [["HDR-1"], ["HDR-2"]],
    ],
    [
      "what one exchange shows has one cause",
      [fail("LST-2", "a text", { evidence: ["x3"] }), fail("LST-3", "nothing", { evidence: ["x3"] })],
      [["LST-2", "LST-3"]],
    ],
    [
      "an endpoint that accepts invalid keys is one cause, whatever the kind of key",
      [
        fail("REQ-2", "no key on health (200)", { evidence: ["x5"], seen: brokenCoverage("health", "no key") }),
        fail("AUTH-8", "a wrong key on health (200)", {
          evidence: ["x4"],
          seen: brokenCoverage("health", "a wrong key"),
        }),
        fail("AUTH-1", "no key on list (200)", { evidence: ["x9"], seen: brokenCoverage("list", "no key") }),
      ],
      [["REQ-2", "AUTH-8"], ["AUTH-1"]],
    ],
    [
      "a warning comes after a failure",
      [fail("HLT-14", "none", { outcome: "warning" }), fail("VER-4", "two versions")],
      [["VER-4"], ["HLT-14"]],
    ],
  ])("%s", (_, findings, expected) => {
    expect(namesOf(findings)).toEqual(expected);
  });

  it("have the clauses that could not be judged because of them", () => {
    const skipped = sampleFinding({ clause: "AUTH-5", outcome: "skipped", reason: "a wrong key gets no 401 (AUTH-3)" });
    const [cause] = failureCauses({ findings: [fail("AUTH-3", "200"), skipped] });
    expect(cause?.dependent).toEqual(["AUTH-5"]);
  });

  it("are no list if one clause is broken, and are one if two are", () => {
    expect(causesToFix({ findings: [fail("VER-4", "two versions")] })).toEqual([]);
    expect(causesToFix({ findings: [fail("VER-4", "two versions"), fail("INV-2", "a text")] })).toHaveLength(2);
  });
});
