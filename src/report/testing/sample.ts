import type { Delivery } from "../../evidence/delivery.ts";
import type { Answered, Body, Exchange, SentRequest } from "../../evidence/exchange.ts";
import { type LoadRun, formatTierAndEngine, trialSuite } from "../model/load-results.ts";
import type { Outcome, ReportFinding, RowLevel } from "../model/finding.ts";
import type { Report } from "../model/report.ts";
import { newestRequirements } from "../../spec/clause.ts";
import { hasInvalidLoad, reportVerdict, runEndOf, totalsOf } from "../model/verdict.ts";
import { profileResultsOf } from "../model/profiles.ts";

export const textBody = (text: string): Body =>
  text === "" ? { kind: "none" } : { kind: "text", text, bytes: Buffer.byteLength(text) };

/** Creates an exchange as a run records it. `answer` replaces parts of the default response, whose status is 200. */
export const sampleExchange = (
  id: string,
  request: Partial<SentRequest> = {},
  answer: Partial<Answered> | Exchange["answer"] = {},
): Exchange => ({
  id,
  key: "key",
  request: {
    method: "POST",
    url: "http://127.0.0.1:8080/v1/agents/echo/invoke",
    headers: [
      ["Authorization", "Bearer [redacted key]"],
      ["Accept", "application/json"],
      ["Content-Type", "application/json"],
    ],
    body: textBody('{"query":"hello"}'),
    ...request,
  },
  sentMs: 10,
  clockMs: 0,
  answer:
    answer.kind === "unanswered"
      ? answer
      : {
          kind: "answered",
          status: 200,
          headers: [["Content-Type", "application/json"]],
          headMs: 12,
          endMs: 13.5,
          body: textBody('{"result":{}}'),
          ending: { kind: "complete" },
          events: [],
          ...answer,
        },
});

/** Creates a webhook delivery as the receiver records it. Its signature is wrong. */
export const sampleDelivery = (id: string, delivery: Partial<Delivery> = {}): Delivery => ({
  id,
  hook: "signed",
  attempt: 1,
  request: {
    method: "POST",
    url: "/f3a9c2/signed",
    headers: [
      ["Content-Type", "application/json"],
      ["X-Service-Signature", "00ff"],
    ],
    body: textBody('{"id":"evt_1","type":"agent.completed"}'),
  },
  peer: "127.0.0.1",
  receivedMs: 20,
  clockMs: 0,
  clockAtMostMs: 0,
  computedSignature: "a1b2",
  reply: { kind: "answered", status: 204, endMs: 21 },
  ...delivery,
});

export const sampleFinding = (finding: Partial<ReportFinding> = {}): ReportFinding => ({
  check: finding.clause ?? "SSE-5",
  clause: "SSE-5",
  suite: "Stream",
  level: "must",
  outcome: "pass",
  ...finding,
});

const usualLevels = {
  pass: "must",
  fail: "must",
  warning: "should",
  note: "advisory",
  observed: "gap",
  skipped: "must",
  error: "must",
} as const satisfies Record<Outcome, RowLevel>;

/** Creates a finding whose level is the usual one of its outcome. */
export const sampleResult = (
  outcome: Outcome,
  clause: string,
  suite: string,
  fields: Partial<ReportFinding> = {},
): ReportFinding => sampleFinding({ outcome, clause, suite, level: usualLevels[outcome], ...fields });

/** Returns the fields by which a finding names its load trial. */
export function trialFields(
  scenario: string,
  tier: string,
  engine: string,
): Pick<ReportFinding, "suite" | "instance" | "load"> {
  const load = { scenario, tier, engine };
  return { suite: trialSuite(load), instance: formatTierAndEngine(load), load };
}

/** Creates a valid load run, sent by one k6 process. */
export const sampleLoadRun = (run: Partial<LoadRun> = {}): LoadRun => ({
  scenario: "minute-limit",
  title: "the requests of a minute",
  tier: "pro",
  engine: "k6",
  engineVersion: "v2.2.0",
  segments: ["0:1"],
  evidence: "load/minute-limit-pro-k6.json",
  started: "2030-01-01T00:00:00.000Z",
  durationMs: 1000,
  speed: 30,
  isFresh: true,
  requests: { planned: 1234, sent: 1234, admitted: 1000, refused: 230, failed: 3, unanswered: 1, left: 0 },
  perSecond: { sent: 1234, admitted: 1000 },
  latencyMs: { admitted: { count: 10, p50: 1.25, p90: 3, p99: 40.4, p999: 41, max: 41 }, refused: null },
  streams: null,
  generator: { dropped: 0, late: 0, busiest: 0.2 },
  validity: { invalid: null, counts: null, pace: null },
  windows: "hour fixed; minute fixed",
  serverRssBytes: null,
  notes: [],
  stopped: null,
  ...run,
});

export const sampleReport = (findings: readonly ReportFinding[], report: Partial<Report> = {}): Report => ({
  format: "agent-hosting-conformance/report/1",
  suite: { version: "0.1.0", clauses: "0123456789abcdef", requirements: newestRequirements },
  target: { name: "Acme", baseUrl: "http://127.0.0.1:8080/v1", fingerprint: "f00d", tiers: { key: "free" } },
  started: "2030-01-01T00:00:00.000Z",
  finished: "2030-01-01T00:00:01.840Z",
  durationMs: 1840,
  requests: 4213,
  waitedMs: 0,
  verdict: "conformant",
  totals: totalsOf(findings),
  findings,
  upcoming: [],
  created: [],
  unselected: [],
  untestable: [],
  ...report,
});

/** Corrects a report: its totals, its verdict and those of its profiles then follow from its findings. */
export function withoutContradiction(report: Report): Report {
  const verdict = reportVerdict({ ...report, end: runEndOf(report), hasInvalidLoad: hasInvalidLoad(report.load) });
  const corrected = { ...report, totals: totalsOf(report.findings), verdict };
  return report.profiles === undefined ? corrected : { ...corrected, profiles: profileResultsOf(corrected) };
}

const main = new URL("../../cli/main.ts", import.meta.url).pathname;

/** A shell function `npx`, so that `npx agent-hosting-conformance` in a printed command runs this checkout. */
export const conformanceFunction = `npx() { shift; '${process.execPath}' '${main}' "$@"; }`;
