import * as fc from "fast-check";

import type { ReportDocument } from "../../document.ts";
import type { Outcome, ReportFinding, RowLevel } from "../../report.ts";
import { outcomes } from "../../report.ts";
import { sampleExchange, sampleFinding, sampleLoadRun, sampleReport, textBody } from "../../testing/sample.ts";

/** What ends, opens or commands something in one of the formats. */
const weapons = [
  "]]>",
  "<![CDATA[",
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "::error title=x::y",
  "\n::add-mask::x",
  "##[error]x",
  "%0A::warning::x",
  "a | b | c",
  "**a** _b_ ~c~ $d$ {e}",
  "a,file=b:c",
  "```\n# heading",
  "`````",
  "@team",
  "a@b.example",
  "#12",
  "www.evil.example",
  "https://evil.example/",
  "[x](https://evil.example)",
  "![x](https://evil.example/x.png)",
  "</details></summary>",
  "<!-- ",
  "&lt;&#60;",
  "\\",
  "\r\n",
  "\u202e\u200b\ufeff",
  "\ufffe\uffff",
  "\ud800",
  "\u0000\u001b[31m",
];

/** Text as a hostile target would choose it. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...weapons), fc.string({ unit: "binary", maxLength: 12 })), { maxLength: 6 })
  .map((parts) => parts.join(""));

const hostileFinding: fc.Arbitrary<ReportFinding> = fc
  .record({
    outcome: fc.constantFrom<Outcome>(...outcomes),
    level: fc.constantFrom<RowLevel>("must", "should", "advisory", "gap", "load"),
    texts: fc.array(hostileText, { minLength: 9, maxLength: 9 }),
  })
  .map(({ outcome, level, texts: [check, clause, suite, instance, reading, expected, actual, reason, needs] }) =>
    sampleFinding({
      outcome,
      level,
      check: check ?? "",
      clause: clause ?? "",
      suite: suite ?? "",
      instance: instance ?? "",
      reading: reading ?? "",
      expected: expected ?? "",
      actual: actual ?? "",
      reason: reason ?? "",
      needs: needs ?? "",
      witness: [reason ?? ""],
      evidence: ["x1"],
    }),
  );

/** A report in which every text is hostile. */
export const hostileDocument: fc.Arbitrary<ReportDocument> = fc
  .record({
    findings: fc.array(hostileFinding, { minLength: 1, maxLength: 5 }),
    text: hostileText,
    isLoad: fc.boolean(),
  })
  .map(({ findings, text, isLoad }) => ({
    report: sampleReport(
      isLoad
        ? findings.map((finding) => ({ ...finding, load: { scenario: text, tier: text, engine: text } }))
        : findings,
      {
        target: { name: text, baseUrl: text, fingerprint: text, tiers: {} },
        suite: { version: text, clauses: text },
        stopped: text,
        ...(isLoad
          ? {
              load: {
                runs: [
                  sampleLoadRun({
                    scenario: text,
                    tier: text,
                    engine: text,
                    validity: { invalid: text, counts: null, pace: null },
                  }),
                ],
              },
            }
          : {}),
      },
    ),
    evidence: {
      exchanges: [
        sampleExchange(
          "x1",
          { url: `http://127.0.0.1/${text}`, body: textBody(text), headers: [["X-Sent", text]] },
          { body: textBody(text), headers: [["X-Came", text]] },
        ),
      ],
      deliveries: [],
      probes: [],
    },
    load: new Map(),
  }));
