import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";

import type { Delivery } from "../../evidence/delivery.ts";
import { clauseIds, clauseOf } from "../../spec/clauses.ts";
import type { ReportFinding } from "../model/finding.ts";
import type { Report } from "../model/report.ts";
import { renderTerminal, type TerminalOptions } from "./render-terminal.ts";
import { sampleDelivery, sampleExchange, sampleFinding, sampleReport, textBody } from "../testing/sample.ts";

const usual = [sampleExchange("x1"), sampleExchange("x2", { method: "PUT" })];

const render = (
  report: Report,
  options: Partial<TerminalOptions> = {},
  exchanges = usual,
  deliveries: readonly Delivery[] = [],
): string =>
  renderTerminal(
    report,
    { exchanges, deliveries },
    {
      colour: false,
      width: 100,
      quiet: false,
      folder: "reports/latest",
      shellVariableOf: () => "CONFORMANCE_API_KEY",
      ...options,
    },
  );

const of = (findings: readonly ReportFinding[], report: Partial<Report> = {}): Report => sampleReport(findings, report);
const broken = (finding: Partial<ReportFinding> = {}): ReportFinding =>
  sampleFinding({
    outcome: "fail",
    expected: "`done`, last",
    actual: "start, done, chunk",
    evidence: ["x1"],
    ...finding,
  });
const nonconformant = { verdict: "nonconformant" } as const;
const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";
const times = (text: string, part: string): number => text.split(part).length - 1;

describe("a report of a target that conforms", () => {
  const findings = [
    sampleFinding({ clause: "INV-1", suite: "Invoke" }),
    sampleFinding({ clause: "SSE-10", reading: "from-0" }),
    sampleFinding({ clause: "SSE-8", reading: "absent" }),
    sampleFinding({ clause: "SSE-23", level: "gap", outcome: "observed", reason: "it skips chunks" }),
  ];

  it("has a table of its sections, one of profiles, the readings, and the verdict", () => {
    expect(render(of(findings)).replaceAll(/of \d+ clauses? \(\d+ %\)/g, "of N")).toBe(
      [
        "section  clauses  pass  fail  warning  note  observed  skipped",
        "Invoke         1     1     0        0     0         0        0",
        "Stream         3     2     0        0     0         1        0",
        "all            4     3     0        0     0         1        0",
        "",
        "profile     verdict  must clauses exercised  broken",
        "core        partial  1 of N",
        "streaming   partial  2 of N",
        "webhooks    partial  0 of N",
        "limits      partial  0 of N",
        "operations  partial  0 of N",
        "signing     partial  0 of N",
        "access      partial  0 of N",
        "",
        "Readings followed  SSE-10 from-0",
        "",
        "report  reports/latest/report.json",
        "",
        "conformant: 3 checks of 3 clauses passed, 1 gap observation, 4,213 requests in 1.84 s",
        "",
      ].join("\n"),
    );
  });

  it("is one line when quiet", () => {
    expect(render(of(findings), { quiet: true })).toMatch(/^conformant: .*\n$/);
  });

  it("says how long it waited", () => {
    expect(lastLine(render(of(findings, { durationMs: 75_400, waitedMs: 61_000 })))).toContain(
      "4,213 requests in 1 min 15 s, 1 min 1 s of it waiting",
    );
  });

  it("has the same words with and without colours", () => {
    const coloured = render(of(findings), { colour: true });
    expect(coloured).toContain("\u001b[32mconformant");
    expect(stripVTControlCharacters(coloured)).toBe(render(of(findings)));
  });

  it("leaves out empty columns on a narrow terminal", () => {
    expect(render(of(findings), { width: 50 }).split("\n")[0]).toBe("section  clauses  pass  fail  observed");
  });
});

describe("a broken clause", () => {
  it("comes first, with its sentence, expected, actual, the exchange and a command", () => {
    const text = render(of([sampleFinding({ clause: "INV-1" }), broken({ instance: "free" })], nonconformant));
    expect(text.split("\n").slice(0, 6)).toEqual([
      "FAIL  SSE-5  must · States and transitions / Stream sequence",
      `      ${clauseOf("SSE-5").says}`,
      "      expected  `done`, last",
      "      actual    start, done, chunk",
      "      with      tier free",
      "      exchange  x1",
    ]);
    expect(text).toContain("        > POST http://127.0.0.1:8080/v1/agents/echo/invoke\n");
    expect(text).toContain('          -H "Authorization: Bearer $CONFORMANCE_API_KEY" \\\n');
    expect(lastLine(text)).toBe(
      "nonconformant: 1 must clause broken (SSE-5), 1 check of 1 clause passed, 4,213 requests in 1.84 s",
    );
  });

  it("is shown once for all equal instances, with other findings on a line each", () => {
    const tiers = ["free", "pro", "team"].map((instance) => broken({ instance }));
    const text = render(of([...tiers, broken({ instance: "own", actual: "nothing" })], nonconformant));
    expect(text).toContain("      with      tiers free, pro, team\n");
    expect(text).toContain("      also      expected `done`, last; got nothing (own)\n");
    expect(times(text, "FAIL")).toBe(1);
    expect(times(text, "curl -i")).toBe(1);
  });

  it("does not repeat an exchange of another clause", () => {
    const clauses = ["SSE-4", "SSE-5", "SSE-6"].map((clause) => broken({ clause }));
    const text = render(of([...clauses, broken({ clause: "SSE-7", evidence: ["x2"] })], nonconformant));
    expect(times(text, "> POST ")).toBe(1);
    expect(times(text, "exchange  x1, shown under SSE-4")).toBe(2);
    expect(times(text, "> PUT ")).toBe(1);
  });

  it("has one line after the first ten, and says where the rest is", () => {
    const ids = clauseIds.slice(0, 14);
    const findings = ids.map((clause) => broken({ clause }));
    const text = render(of(findings, nonconformant));
    expect(text).toContain("4 more broken clauses; reports/latest/report.json has them in full:\n");
    expect(text).toContain(`FAIL  ${ids[13]}  expected \`done\`, last; got start, done, chunk\n`);
    expect(times(text, "      expected  ")).toBe(10);
    expect(lastLine(text)).toContain("14 must clauses broken by 1 cause (");
  });

  it("is one line when quiet", () => {
    expect(render(of([broken(), broken({ clause: "SSE-4" })], nonconformant), { quiet: true }).split("\n")).toEqual([
      "fail SSE-5: expected `done`, last; got start, done, chunk",
      "fail SSE-4: expected `done`, last; got start, done, chunk",
      expect.stringMatching(/^nonconformant: 2 must clauses broken by 1 cause \(SSE-5, SSE-4\), /),
      "",
    ]);
  });

  it("escapes control characters of a target", () => {
    const evil = "\u001b]0;x\u0007\u001b[2J\nconformant: all is well\u202e\r";
    const exchange = sampleExchange(
      "x1",
      { url: `http://h/${evil}` },
      {
        headers: [[evil, evil]],
        body: { kind: "text", text: evil, bytes: 9 },
        ending: { kind: "broken", detail: evil },
      },
    );
    const findings = [
      broken({ expected: evil, actual: evil, instance: evil, suite: evil }),
      sampleFinding({ clause: "SSE-6", outcome: "skipped", reason: evil, needs: evil }),
      sampleFinding({ clause: "SSE-7", outcome: "error", reason: evil }),
      sampleFinding({ clause: "SSE-10", reading: evil }),
    ];
    const report = of(findings, { ...nonconformant, stopped: evil });
    for (const quiet of [true, false]) {
      const text = render(report, { quiet }, [exchange]);
      // oxlint-disable-next-line no-control-regex
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(text).not.toMatch(/^\s*conformant/m);
    }
  });

  it("is shown without evidence if there is none", () => {
    const text = render(of([broken({ evidence: ["x77"] })], nonconformant), { folder: null });
    expect(text).toContain("expected  `done`, last");
    expect(text).not.toContain("exchange");
  });
});

describe("the rest of a report", () => {
  it("has failures of the harness, warnings and notes, in this order", () => {
    const text = render(
      of([
        sampleFinding({ clause: "SSE-11", level: "advisory", outcome: "note", expected: "0, 1", actual: "0, 2" }),
        sampleFinding({ clause: "INV-1", level: "should", outcome: "warning", expected: "a", actual: "b" }),
        sampleFinding({ clause: "SSE-7", outcome: "error", reason: "TypeError: x\n  at y" }),
      ]),
    );
    const at = [
      "ERROR  The harness itself failed",
      "  SSE-7  TypeError: x at y\n",
      "warning  INV-1  ",
      "note  SSE-11  ",
      "expected 0, 1; got 0, 2\n",
    ];
    const places = at.map((part) => text.indexOf(part));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it("groups skipped checks by what would enable them, the largest group first", () => {
    const skipped = (clause: string, more: Partial<ReportFinding>) =>
      sampleFinding({ clause, outcome: "skipped", ...more });
    const text = render(
      of(
        [
          skipped("INV-1", { reason: "the control failed" }),
          ...["SSE-15", "SSE-16", "SSE-17", "SSE-18"].map((clause) =>
            skipped(clause, { reason: "none", needs: "`agents.slow`" }),
          ),
          sampleFinding({ clause: "INV-2" }),
        ],
        { verdict: "partial" },
      ),
    );
    expect(text).toContain(
      [
        "Skipped: 5 checks",
        "    4  enabled by `agents.slow` (SSE-15, SSE-16, SSE-17 and 1 more)",
        "    1  the control failed (INV-1)",
      ].join("\n"),
    );
    expect(lastLine(text)).toMatch(
      /^partial: nothing broken, but 5 must clauses not exercised \(INV-1, SSE-15, SSE-16 and 2 more\), 1 check of 1 clause passed/,
    );
  });

  it.each([
    {
      report: of([sampleFinding({ outcome: "skipped" })], { verdict: "partial" }),
      says: /^partial: nothing was exercised, /,
    },
    { report: of([], { verdict: "partial", requests: 1 }), says: /^partial: nothing was exercised, 1 request in / },
    {
      report: of([sampleFinding()], { verdict: "incomplete", stopped: "interrupted" }),
      says: /^incomplete: stopped early \(interrupted\), nothing broken by then, 1 check /,
    },
    {
      report: of([broken()], { ...nonconformant, stopped: "interrupted" }),
      says: /^nonconformant: 1 must clause broken \(SSE-5\), stopped early \(interrupted\), /,
    },
  ])("ends with its verdict: $says", ({ report, says }) => {
    expect(lastLine(render(report))).toMatch(says);
  });
});

describe("a clause broken by a delivery", () => {
  const url = "https://tunnel.example/f3a9c2/signed";
  const creation = sampleExchange("x3", {
    url: "http://127.0.0.1:8080/v1/webhooks",
    body: textBody(JSON.stringify({ url, events: ["agent.completed"], secret: "[redacted webhook secret]" })),
  });
  const deliveries = [sampleDelivery("d1"), sampleDelivery("d2", { attempt: 2 })];
  const finding = broken({ clause: "HOOK-22", evidence: ["x1", "d2", "d1"] });
  const text = render(
    of([finding, broken({ clause: "HOOK-23", evidence: ["d2"] })], nonconformant),
    { shellVariableOf: (name) => (name === "webhook secret" ? "WEBHOOK_SECRET" : "CONFORMANCE_API_KEY") },
    [...usual, creation],
    deliveries,
  );

  it("shows the received delivery once", () => {
    expect(text).toContain(
      [
        "      delivery  d2 (and 2 more in reports/latest/evidence.json)",
        "        * request 2 to the address `signed`, from 127.0.0.1, 0.02 s into the run",
        "        < POST /f3a9c2/signed",
        "        < Content-Type: application/json",
        "        < X-Service-Signature: 00ff",
        "        <",
        '        < {"id":"evt_1","type":"agent.completed"}',
        "        * the harness answered 204 after 0.00 s",
        "      to see it again",
      ].join("\n"),
    );
    expect(text).toContain("      delivery  d2, shown under HOOK-22");
  });

  it("shows how to create the webhook, how to cause the event, and how to compute the signature", () => {
    expect(text).toContain("        curl -i http://127.0.0.1:8080/v1/webhooks \\\n");
    expect(text).toContain('"secret":"\'"$WEBHOOK_SECRET"\'"}');
    expect(text).toContain("        curl -i http://127.0.0.1:8080/v1/agents/echo/invoke \\\n");
    expect(text).toMatch(
      / {8}WEBHOOK_SECRET=\$\(npx agent-hosting-conformance evidence reports\/latest x3 --secret\)\n/,
    );
    expect(text).toMatch(/ {8}printf %s '\{.*\}' \| openssl dgst -sha256 -hmac "\$WEBHOOK_SECRET"\n/);
  });
});

describe("resources left on the target", () => {
  const created = (kind: "webhook" | "alert" | "operation") =>
    ({ kind, id: "a", key: "key", at: "2030-01-01T00:00:01.000Z", exchange: "x1" }) as const;

  it("are listed on one line", () => {
    const report = of([sampleFinding()], { created: [created("alert"), created("webhook"), created("webhook")] });
    expect(render(report)).toContain(
      "\n\nLeft on the target  2 webhooks, 1 alert (the interface has no operation that deletes them)\n\nreport",
    );
  });

  it("are not mentioned if there are none", () => {
    expect(render(of([sampleFinding()]))).not.toContain("Left on the target");
  });
});
