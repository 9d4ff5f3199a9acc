import { noRateLimitInfo } from "../../../rules/limits/rate-limit-info.ts";
import type { Sample } from "../../../rules/limits/sample.ts";
import { publishedTiers } from "../../../spec/tiers.ts";
import type { LoadEvidence, LoadSample } from "../../../evidence/load-evidence.ts";
import type { ReportFinding } from "../../model/finding.ts";
import type { ReportDocument } from "../../model/report.ts";
import {
  sampleDelivery,
  sampleExchange,
  sampleFinding,
  sampleLoadRun,
  sampleReport,
  sampleResult,
  textBody,
  trialFields,
} from "../../testing/sample.ts";

/** Findings of every outcome and level, in several sections. */
const findings: readonly ReportFinding[] = [
  sampleResult("pass", "INV-1", "Invoke", { evidence: ["x1"] }),
  sampleResult("fail", "INV-10", "Invoke", {
    expected: "400 with the code `MISSING_REQUIRED_FIELD`",
    actual: '400 with the code "WRONG"',
    evidence: ["x2", "x1"],
  }),
  ...["free", "pro"].map((instance) =>
    sampleResult("fail", "LIM-1", "Limits", {
      instance,
      expected: "at most 10 in a minute",
      actual: "12",
      witness: ["12 admitted within 3 s", "none refused"],
      evidence: ["x1"],
    }),
  ),
  sampleResult("fail", "HOOK-21", "Webhook deliveries", {
    expected: "the signature of the raw body",
    actual: "another one",
    evidence: ["d1"],
  }),
  sampleResult("warning", "HLT-11", "Health check", { expected: "degraded", actual: "healthy", evidence: ["x1"] }),
  sampleResult("note", "INV-7", "Invoke", { expected: "3", actual: "4", evidence: ["x1"] }),
  sampleResult("pass", "ERR-2", "Errors", { reading: "form-a" }),
  sampleResult("observed", "AUTH-9", "Authentication", { reason: "the code is `NO_KEY`", evidence: ["x2"] }),
  sampleResult("skipped", "KEY-3", "Keys", {
    reason: "no temporary key",
    needs: "`keys.temporary` in the target file",
  }),
  sampleResult("error", "SSE-5", "Stream", { reason: "the check threw" }),
];

const limiterSample = (at: number, other: Partial<Sample> = {}): Sample => ({
  id: `x${100 + at}`,
  kind: "invoke",
  sentMs: at * 10,
  headMs: at * 10 + 2,
  endMs: at * 10 + 3,
  sentClockMs: 0,
  headClockMs: 0,
  endClockMs: 0,
  status: at > 10 ? 429 : 200,
  ...noRateLimitInfo,
  limit: 10,
  remaining: Math.max(0, 10 - at),
  reset: 1_772_600_820,
  resetAfter: 50,
  date: 1_772_600_770,
  ...other,
});

const events = ["start", "chunk", "chunk", "done"].map((name, at) => ({ name, data: "{}", atMs: 20 + at * 7 }));

const exchanges = [
  sampleExchange("x1"),
  sampleExchange(
    "x2",
    { body: textBody("{}") },
    { status: 400, body: textBody('{"error":{"code":"WRONG","message":"no","status":400}}') },
  ),
  sampleExchange("x3", { url: "http://127.0.0.1:8080/v1/agents/echo/stream" }, { events, endMs: 60 }),
];

const deliveries = [
  sampleDelivery("d1", { reply: { kind: "answered", status: 500, endMs: 21 } }),
  sampleDelivery("d2", { attempt: 2, receivedMs: 60_100 }),
];

/** A report with findings of every kind, and evidence for every chart. */
export const brokenDocument: ReportDocument = {
  report: sampleReport(findings, {
    verdict: "nonconformant",
    created: [{ kind: "webhook", id: "wh_1", key: "key", at: "2030-01-01T00:00:01.000Z", exchange: "x1" }],
    unselected: ["USE-1"],
    untestable: [{ clause: "CFG-1", level: "policy", reason: "A file on the vendor's side." }],
  }),
  evidence: {
    exchanges,
    deliveries,
    probes: [
      {
        probe: "a minute's allowance is used up",
        instance: "free",
        result: {
          kind: "ran",
          evidence: {
            limits: publishedTiers.free,
            samples: Array.from({ length: 14 }, (_, at) => limiterSample(at + 1)),
          },
        },
      },
    ],
  },
  load: new Map(),
};

/** A report in which every finding passed. */
export const conformantDocument: ReportDocument = {
  report: sampleReport([sampleResult("pass", "INV-1", "Invoke", { evidence: ["x1"] })]),
  evidence: { exchanges, deliveries: [], probes: [] },
  load: new Map(),
};

const latencyHistogram = {
  count: 12,
  p50Us: 900,
  p90Us: 1200,
  p99Us: 2000,
  p999Us: 2000,
  maxUs: 2000,
  encoded: "not one",
};

const loadSample = (at: number): LoadSample => ({
  flow: "serial",
  key: "main",
  sentMs: 1000 + at * 10,
  headMs: 1002 + at * 10,
  endMs: 1003 + at * 10,
  status: at > 10 ? 429 : 200,
  ...noRateLimitInfo,
  limit: 10,
  remaining: Math.max(0, 10 - at),
  reset: 60,
  resetAfter: 59,
  date: 1,
  left: false,
  tokens: 2,
  flaws: [],
});

const loadEvidence: LoadEvidence = {
  format: "agent-hosting-conformance/load-evidence/1",
  scenario: "minute-limit",
  engine: "k6",
  engineVersion: "v2.2.0",
  tier: "pro",
  limits: publishedTiers.free,
  flows: [],
  isFresh: true,
  startedAt: "2030-01-01T00:00:00.000Z",
  durationMs: 1000,
  speed: 30,
  segments: ["0:1"],
  notes: [],
  requests: Array.from({ length: 14 }, (_, at) => loadSample(at + 1)),
  summary: [],
  generator: { planned: 14, sent: 14, dropped: 0, late: 0, busiest: 0.1 },
  latency: { admitted: latencyHistogram, refused: latencyHistogram, other: { ...latencyHistogram, count: 0 } },
  streams: [
    {
      flow: "serial",
      sentMs: 1000,
      status: 200,
      firstEventMs: 1004,
      endMs: 1100,
      longestGapMs: 9,
      sequence: ["start", "done"],
      chunks: 3,
      indexes: "rising",
      ending: "whole",
      totalTokens: 3,
    },
  ],
  ledger: null,
  deliveries: null,
  server: null,
  stopped: null,
};

const loadFile = "load/minute-limit-pro-k6.json";

/** A load report. One of its runs breaks a clause, and another is not valid. */
export const loadDocument: ReportDocument = {
  report: sampleReport(
    [
      sampleFinding({
        clause: "LIM-1",
        check: "LIM-1/minute-limit",
        ...trialFields("minute-limit", "pro", "k6"),
        outcome: "fail",
        expected: "at most 100 in a minute",
        actual: "103",
        witness: ["103 admitted within 4 s"],
        evidence: [loadFile],
      }),
      sampleFinding({
        clause: "load/slow-refusals",
        ...trialFields("minute-limit", "pro", "k6"),
        level: "load",
        expected: "refusals as quick as answers",
        outcome: "pass",
      }),
    ],
    {
      verdict: "nonconformant",
      load: {
        runs: [
          sampleLoadRun({ evidence: loadFile }),
          sampleLoadRun({
            scenario: "burst",
            evidence: "load/burst.json",
            validity: { invalid: "the generator was too slow", counts: null, pace: null },
          }),
        ],
      },
    },
  ),
  evidence: null,
  load: new Map([[loadFile, loadEvidence]]),
};
