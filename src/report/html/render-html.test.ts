import { describe, expect, it } from "vitest";

import { clausesOfParty } from "../../spec/clauses.ts";
import type { ReportFinding } from "../model/finding.ts";
import type { ReportDocument } from "../model/report.ts";
import { sampleExchange, sampleFinding, sampleReport, textBody } from "../testing/sample.ts";
import { clauseAnchor, findingAnchor } from "./elements.ts";
import { renderHtml } from "./render-html.ts";
import { brokenDocument, conformantDocument, loadDocument } from "./testing/sample-documents.ts";

const documentOf = (
  findings: readonly ReportFinding[],
  other: Partial<ReportDocument["report"]> = {},
): ReportDocument => ({
  report: sampleReport(findings, other),
  evidence: null,
  load: new Map(),
});

const idsIn = (page: string): string[] => [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => id);
/** Returns the clauses in the page's list of what to fix, in order. */
const fixesIn = (page: string): string[] =>
  [...page.slice(0, page.indexOf('id="findings"')).matchAll(/<a class="clause" href="#[^"]*">([^<]*)</g)].map(
    ([, id = ""]) => id,
  );

describe("a report's page", () => {
  it.each([
    ["a broken run", brokenDocument, "Not conformant"],
    ["a conformant run", conformantDocument, "Conformant"],
    [
      "a partial run",
      documentOf([sampleFinding({ outcome: "skipped" })], { verdict: "partial" }),
      "Nothing broken, not everything exercised",
    ],
    ["a run that was stopped", documentOf([], { verdict: "incomplete", stopped: "no more requests" }), "Stopped early"],
    ["broken load", loadDocument, "Not conformant"],
  ])("says the verdict on %s in words", (_, document, word) => {
    expect(renderHtml(document).includes(`<p class="word">${word}</p>`), `<p class="word">${word}</p>`).toBe(true);
  });

  it("names five causes to fix first: by outcome, then the worst for a client", () => {
    const page = renderHtml(
      documentOf([
        sampleFinding({ clause: "INV-7", level: "advisory", outcome: "note" }),
        sampleFinding({ clause: "HLT-11", level: "should", outcome: "warning" }),
        sampleFinding({ clause: "load/slow-refusals", level: "load", outcome: "fail" }),
        sampleFinding({ clause: "INV-1", outcome: "fail" }),
        ...["free", "pro"].map((instance) => sampleFinding({ clause: "LIM-1", outcome: "fail", instance })),
        sampleFinding({ clause: "SSE-5", outcome: "fail" }),
      ]),
    );
    expect(fixesIn(page)).toEqual(["INV-1", "SSE-5", "LIM-1", "load/slow-refusals", "HLT-11"]);
    expect(page.includes("1 more cause below"), "1 more cause below").toBe(true);
  });

  it("says what would enable more checks if nothing is broken", () => {
    const page = renderHtml(
      documentOf(
        [sampleFinding({ outcome: "skipped", reason: "no key", needs: "`keys.expired` in the target file" })],
        { verdict: "partial" },
      ),
    );
    expect(page.includes("What would prove more"), "What would prove more").toBe(true);
    expect(
      page.includes("<code>keys.expired</code> in the target file"),
      "<code>keys.expired</code> in the target file",
    ).toBe(true);
  });

  it("has a row for each clause of the document, with a reason if it has no findings", () => {
    const page = renderHtml(brokenDocument);
    const ids = new Set(idsIn(page));
    expect(clausesOfParty("server").filter((clause) => !ids.has(clauseAnchor(clause)))).toEqual([]);
    expect(page.includes("Not testable: "), "Not testable: ").toBe(true);
    expect(page.includes("Not selected for this run."), "Not selected for this run.").toBe(true);
  });

  it.each([
    ["a run", brokenDocument],
    ["load", loadDocument],
  ])("gives each finding of %s an address of its own, and every link leads somewhere", (_, document) => {
    const page = renderHtml(document);
    const ids = idsIn(page);
    expect(new Set(ids).size).toBe(ids.length);
    const links = [...page.matchAll(/href="#([^"]*)"/g)].map(([, id = ""]) => id);
    expect(links.filter((id) => !ids.includes(id))).toEqual([]);
    for (const finding of document.report.findings) expect(ids).toContain(findingAnchor(finding));
  });

  it("gives two findings of one check and instance different addresses", () => {
    const twice = ["one", "other"].map((actual) =>
      sampleFinding({ clause: "LIM-1", instance: "free", outcome: "fail", actual }),
    );
    const ids = idsIn(renderHtml(documentOf(twice))).filter((id) => id.startsWith("finding-"));
    expect(ids).toEqual(["finding-LIM-1:free", "finding-LIM-1:free~2"]);
  });

  it.each([
    ["to fix", { outcome: "fail", actual: "broken" }, '<a class="clause" href="#finding-LIM-1:free~2"'],
    ["by outcome", { outcome: "fail", actual: "broken" }, '<a class="outcome" href="#finding-LIM-1:free~2"'],
    [
      "of what was skipped",
      { outcome: "skipped", reason: "no key", needs: "a key" },
      '<a class="nowrap" href="#finding-LIM-1:free~2"',
    ],
    [
      "of an observation",
      { outcome: "observed", reason: "the server is silent" },
      '<a href="#finding-LIM-1:free~2">LIM-1',
    ],
  ] as const)(
    "links %s lead to the finding itself, also to the second of one check and instance",
    (_, changes, link) => {
      const id = { clause: "LIM-1", instance: "free" } as const;
      const page = renderHtml(
        documentOf([sampleFinding({ ...id, outcome: "pass" }), sampleFinding({ ...id, ...changes })]),
      );
      expect(page.includes(link), link).toBe(true);
    },
  );

  it("shows exchanges and commands of broken and observed findings, and only names those of a pass", () => {
    const [page, passed] = [renderHtml(brokenDocument), renderHtml(conformantDocument)];
    expect(page.includes("&lt; 400"), "&lt; 400").toBe(true);
    expect(page.includes("Bearer $CONFORMANCE_API_KEY"), "Bearer $CONFORMANCE_API_KEY").toBe(true);
    expect(page.includes("Delivery d1, as it went over the wire"), "Delivery d1, as it went over the wire").toBe(true);
    expect(page.includes("12 admitted within 3 s\nnone refused"), "12 admitted within 3 s\nnone refused").toBe(true);
    expect(passed.includes("curl -i"), "curl -i").toBe(false);
    expect(
      passed.includes("<code>x1</code> POST /v1/agents/echo/invoke → 200"),
      "<code>x1</code> POST /v1/agents/echo/invoke → 200",
    ).toBe(true);
  });

  it("shows charts of limits, latency, retries and streams, each with its data as a table", () => {
    const page = renderHtml(brokenDocument);
    const titles = [...page.matchAll(/<figcaption>\s*<strong>([^<]*)</g)].map(([, title = ""]) => title);
    expect(titles).toEqual([
      "free: admitted and refused in a minute",
      "free: remaining requests in the headers, minute by minute",
      "Latency while the limits were used up",
      "Retries of failed deliveries",
      "Streams, event by event",
    ]);
    expect(page.match(/The data as a table/g)).toHaveLength(5);
    expect(page.match(/<svg role="img" aria-label="[^"]{20,}"/g)).toHaveLength(5);
  });

  it("shows charts of load, and which run proves nothing and why", () => {
    const page = renderHtml(loadDocument);
    expect(
      page.includes("burst, pro, k6: the run proves nothing: the generator was too slow"),
      "burst, pro, k6: the run proves nothing: the generator was too slow",
    ).toBe(true);
    expect(page.includes("Streams: time to the first event"), "Streams: time to the first event").toBe(true);
    expect(
      page.includes("12 responses admitted: half of them within 0.9 ms"),
      "12 responses admitted: half of them within 0.9 ms",
    ).toBe(true);
  });

  it("says that evidence is missing", () => {
    expect(
      renderHtml({ ...brokenDocument, evidence: null }).includes("was not there when the page was made"),
      "was not there when the page was made",
    ).toBe(true);
  });

  it("stays small however much was broken", () => {
    const exchanges = Array.from({ length: 600 }, (_, at) =>
      sampleExchange(`x${at}`, {}, { body: textBody("y".repeat(200_000)) }),
    );
    const findings = exchanges.map(({ id }, at) =>
      sampleFinding({
        clause: "INV-1",
        check: `INV-1/${at}`,
        outcome: "fail",
        actual: "z".repeat(5000),
        evidence: [id],
      }),
    );
    const page = renderHtml({
      report: sampleReport(findings),
      evidence: { exchanges, deliveries: [], probes: [] },
      load: new Map(),
    });
    expect(page.length).toBeLessThan(6_000_000);
  });

  it("has no style attribute and no address that a browser would fetch, which its policy would forbid", () => {
    for (const document of [brokenDocument, loadDocument]) {
      const page = renderHtml(document);
      expect(page).not.toMatch(/<[^>]* style=/);
      expect(page).not.toMatch(/<[^>]* src=/);
      expect(page.includes("default-src &#39;none&#39;"), "default-src &#39;none&#39;").toBe(true);
    }
  });
});
