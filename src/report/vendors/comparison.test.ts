import { describe, expect, it } from "vitest";

import { newestRequirements } from "../../spec/clause.ts";
import { sampleExchange, sampleFinding, sampleLoadRun, sampleReport } from "../testing/sample.ts";
import { compareVendors } from "./comparison.ts";
import { sampleObservation, unjudgedVendor, sampleVendor } from "./testing/vendors.ts";
import { comparisonNotes, formatOverview } from "./summary.ts";

const createdAt = "2030-01-01T00:00:00.000Z";
const failing = sampleFinding({ clause: "INV-3", outcome: "fail", expected: "a", actual: "b", instance: "free" });

describe("clauses of several vendors", () => {
  it("have a row each in the document's order with the worst outcome, marked where outcomes differ", () => {
    const [acme, other] = [
      sampleVendor("Acme", [sampleFinding(), sampleFinding({ clause: "INV-3" }), failing]),
      sampleVendor("Other", [sampleFinding(), sampleFinding({ clause: "INV-3" })]),
    ];
    const { sections } = compareVendors([acme, other, unjudgedVendor("Down", "No answer.")], createdAt);
    expect(sections).toMatchObject([
      {
        title: "Stream",
        rows: [
          {
            clause: "INV-3",
            differs: true,
            cells: [{ outcome: "pass", text: "" }, { outcome: "fail", text: "expected a; got b (free)" }, null],
          },
          { clause: "SSE-5", differs: false, cells: [{ outcome: "pass" }, { outcome: "pass" }, null] },
        ],
      },
    ]);
  });

  it("that a report does not have are not the same as skipped, and do not count as a difference", () => {
    const skipped = sampleFinding({ outcome: "skipped", reason: "no agent", needs: "agents.slow" });
    const all = compareVendors(
      [sampleVendor("A", [skipped]), sampleVendor("B", [sampleFinding({ clause: "SSE-6" })])],
      createdAt,
    );
    expect(comparisonNotes(all)).toEqual([
      expect.stringMatching(/a missing clause does not count as a difference: B \(1 clause\), A \(1 clause\)\.$/),
    ]);
    expect(all.sections[0]?.rows).toMatchObject([
      { cells: [{ outcome: "absent" }, { outcome: "skipped", text: "no agent; needs agents.slow" }], differs: false },
      { cells: [{ outcome: "pass" }, { outcome: "absent" }] },
    ]);
  });
});

describe("readings and gaps of several vendors", () => {
  const cases = [
    ["another text", "400 INVALID_INPUT", "422", true],
    ["the same text", "200", "200", false],
    ["times alone", "it took 1.5 s", "it took 3 s", false],
    ["windows that can be the same", "fits: rolling, fixed", "fits: fixed, weighted", false],
    ["windows that cannot", "fits: rolling", "fits: fixed", true],
  ] as const;

  it.each(cases)("%s", (_, one, other, differs) => {
    const { gaps } = compareVendors(
      [sampleVendor("A", [sampleObservation("LST-9", one)]), sampleVendor("B", [sampleObservation("LST-9", other)])],
      createdAt,
    );
    expect(gaps).toMatchObject([{ clause: "LST-9", cells: [one, other], differs }]);
  });

  it("are compared by tier, and a missing observation does not differ", () => {
    const skipped = sampleFinding({ clause: "LIM-16", level: "gap", outcome: "skipped", reason: "no time" });
    const { gaps } = compareVendors(
      [
        sampleVendor("A", [sampleObservation("LIM-16", "x", "free"), sampleObservation("LIM-16", "y", "pro")]),
        sampleVendor("B", [sampleObservation("LIM-16", "x", "free")]),
        sampleVendor("C", [skipped]),
      ],
      createdAt,
    );
    expect(gaps).toMatchObject([{ cells: ["free: x; pro: y", "x", "not observed: no time"], differs: false }]);
  });

  it("leave out readings that only say whether a field is there", () => {
    const { readings } = compareVendors(
      [
        sampleVendor("A", [
          sampleFinding({ clause: "ERR-2", reading: "form-a" }),
          sampleFinding({ reading: "present" }),
        ]),
        sampleVendor("B", [sampleFinding({ clause: "ERR-2", reading: "form-b" })]),
      ],
      createdAt,
    );
    expect(readings).toMatchObject([{ clause: "ERR-2", cells: ["form-a", "form-b"], differs: true }]);
  });
});

describe("limits and times of several vendors", () => {
  const answer = (status: number, limit: string) =>
    sampleExchange(`${status}${limit}`, {}, { status, headers: [["x-ratelimit-limit", limit]] });

  it("show the limits in headers, the judged limits, and vendors without a key", () => {
    const rows = [
      sampleFinding({ clause: "LIM-1", instance: "free" }),
      sampleFinding({ clause: "LIM-6", instance: "free", outcome: "fail", actual: "1 at once" }),
      sampleObservation("LIM-16", "refused requests count", "free"),
    ];
    const acme = sampleVendor("A", rows, [answer(200, "10"), answer(429, "100"), answer(401, "7")]);
    const other = sampleVendor("B", []);
    const { report } = other.document;
    const keyless = {
      ...other,
      document: { ...other.document, report: { ...report, target: { ...report.target, tiers: { key: "pro" } } } },
    };
    const { limits } = compareVendors([acme, keyless], createdAt);
    expect(limits.map(({ tier }) => tier)).toEqual(["free", "pro"]);
    const cells = Object.fromEntries((limits[0]?.rows ?? []).map((row) => [row.name, row.cells]));
    expect(cells).toMatchObject({
      "limit in the headers": ["no key", "10, 100"],
      "in a minute": ["no key", "✓ as published"],
      "at once": ["no key", "✕ LIM-6: 1 at once"],
      burst: ["no key", "not judged"],
      "refused requests": ["no key", "refused requests count"],
    });
  });

  it("cover successful requests to the agent called most, and admitted load requests", () => {
    const at = (id: string, agent: string, ms: number, status = 200) =>
      sampleExchange(id, { url: `http://127.0.0.1:8080/v1/agents/${agent}/invoke` }, { status, headMs: 10 + ms });
    const exchanges = [at("1", "echo", 2), at("2", "echo", 4), at("3", "slow", 3000), at("4", "echo", 9, 500)];
    const load = { report: sampleReport([], { load: { runs: [sampleLoadRun()] } }), evidence: null, load: new Map() };
    const { latencies } = compareVendors(
      [{ ...sampleVendor("A", [], exchanges), load }, sampleVendor("B", [])],
      createdAt,
    );
    expect(latencies.ofRuns).toEqual([{ name: "invoke", cells: [{ count: 2, median: 3, p99: 3.98 }, null] }]);
    expect(latencies.ofLoad).toEqual([
      { name: "minute-limit, pro", cells: [{ count: 10, median: 1.25, p99: 40.4 }, null] },
    ]);
  });
});

describe("streaming quality of several vendors", () => {
  it("has the longest gap, the rate and the lumps of the agent with the most streams", () => {
    const events = [
      ...[100, 103, 1100].map((atMs) => ({ name: "chunk", data: '{"content":"four"}', atMs })),
      { name: "done", data: '{"usage":{"completion_tokens":10}}', atMs: 1101 },
    ];
    const stream = sampleExchange("s1", { url: "http://127.0.0.1:8080/v1/agents/echo/stream" }, { events });
    const { streaming } = compareVendors([sampleVendor("A", [], [stream]), sampleVendor("B", [])], createdAt);
    expect(streaming).toEqual([
      { name: "longest gap", cells: ["997 ms", null] },
      { name: "content a second", cells: ["10 tokens", null] },
      { name: "streams that come all at once", cells: ["0 of 1", null] },
    ]);
  });
});

describe("the summary above the tables", () => {
  it("counts deployments, verdicts and differences", () => {
    const all = compareVendors(
      [
        sampleVendor("A", [failing]),
        sampleVendor("B", [sampleFinding({ clause: "INV-3" })]),
        unjudgedVendor("C", "No answer."),
      ],
      createdAt,
    );
    expect(formatOverview(all)).toMatch(
      /^3 deployments: 2 conformant, 1 could not be judged\. They differ in 1 clause, 0 readings/,
    );
  });

  it("warns of different suites and of equal deployments, and names earlier reports", () => {
    const [acme, other] = [sampleVendor("A", []), sampleVendor("B", [])];
    const { report } = acme.document;
    const older = {
      ...report,
      suite: { version: "0.0.1", clauses: "x", requirements: newestRequirements },
      target: other.document.report.target,
    };
    const all = compareVendors(
      [{ ...acme, isKept: true, document: { ...acme.document, report: older } }, other],
      createdAt,
    );
    expect(comparisonNotes(all)).toEqual([
      expect.stringMatching(/^They were judged by different versions .*0\.0\.1/),
      "A and B look like the same deployment.",
      "Reports of earlier runs: A of 2030-01-01 00:00 UTC.",
    ]);
  });
});
