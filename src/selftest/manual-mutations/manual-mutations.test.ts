import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sampleOf } from "../../base/testing/test-scope.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type EmbeddedServer, startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { editField, setField, removeField } from "../../reference/json-edit.ts";
import { type Judgement, judgeEvidence, resultsByProbe } from "../../run/judge/judge-evidence.ts";
import { runSuites } from "../../run/run.ts";
import { suites } from "../../suites/all.ts";
import { withDeliveryText } from "../mutants/messages.ts";
import { isAnswered } from "../mutants/edits.ts";
import { withSmallTiers } from "../trial.ts";
import {
  responseMatcher,
  bodyMatcher,
  removeRateHeaders,
  editBody,
  meetsAll,
  replaceContentType,
  endpointOf,
  editEvents,
  urlMatcher,
  respellHeaders,
  replaceStatus,
  statusMatcher,
  replaceBody,
  editWhere,
  type RecordedRun,
  type ManualMutation,
  mutatedResults,
} from "./mutate-evidence.ts";

const inText = (value: unknown): string => String(value);
const anError = statusMatcher(400, 401, 404, 429, 500);
const html = (isMeant: (exchange: Exchange) => boolean): ManualMutation => ({
  exchange: editWhere(isMeant, replaceBody("<h1>nope</h1>"), replaceContentType("text/html")),
});
const inBody = (isMeant: (exchange: Exchange) => boolean, edit: (value: unknown) => unknown): ManualMutation => ({
  exchange: editWhere(isMeant, editBody(edit)),
});
const inDelivery = (type: string, edit: (value: unknown) => unknown): ManualMutation => ({
  delivery: (delivery) =>
    typeOf(delivery) === type ? withDeliveryText(delivery, JSON.stringify(edit(deliveryJson(delivery)))) : delivery,
});
const typeOf = (delivery: Delivery): unknown => (deliveryJson(delivery) as { type?: unknown } | undefined)?.type;

const elsewhere = (exchange: Exchange): boolean =>
  ["webhooks", "deliveries", "alerts", "keyUsage", "operations"].includes(endpointOf(exchange) ?? "");
const withParameters = meetsAll(responseMatcher("invoke", 200), bodyMatcher('"parameters"'));
const isLastPage = ({ request }: Exchange): boolean => /page=(?:[3-9]|\d\d)&limit=2$/.test(request.url);
const isPut = meetsAll(statusMatcher(404, 405), ({ request }) => request.method === "PUT");
const isOtherMethod = meetsAll(
  statusMatcher(404, 405),
  ({ request: { method, url } }) => method === "GET" && /\/(alerts|webhooks|invoke|stream|batch)$/.test(url),
);

/** Defects in one place, each with the clauses that must detect it. */
const wrong: readonly (readonly [what: string, clauses: readonly string[], ManualMutation])[] = [
  ["key usage is HTML", ["SVC-1"], html(responseMatcher("keyUsage", 200))],
  [
    "with parameters, the result is text",
    ["INV-2"],
    inBody(withParameters, (all) => setField(all, "result", "Hello.")),
  ],
  [
    "with parameters, the execution time is a word",
    ["INV-4"],
    inBody(withParameters, (all) => setField(all, "metadata.execution_time", "fast")),
  ],
  [
    "the second page has no pagination",
    ["LST-3"],
    inBody(meetsAll(responseMatcher("list", 200), urlMatcher("page=2&")), (all) => removeField(all, "pagination")),
  ],
  [
    "the last page has its agents in an object",
    ["LST-2"],
    inBody(meetsAll(responseMatcher("list", 200), isLastPage), (all) => setField(all, "data", {})),
  ],
  ["a 403 has no rate-limit headers", ["HDR-2"], { exchange: editWhere(statusMatcher(403), removeRateHeaders) }],
  [
    "a temperature between the ends is refused",
    ["INV-13"],
    {
      exchange: editWhere(
        meetsAll(responseMatcher("invoke", 200), bodyMatcher('"temperature":0.7'), ({ since }) => since === undefined),
        replaceStatus(400),
        replaceBody(errorText(400)),
      ),
    },
  ],
  ["errors of webhooks, alerts, keys and operations are HTML", ["SVC-1"], html(meetsAll(elsewhere, anError))],
  ["every error is declared as HTML", ["REQ-4"], { exchange: editWhere(anError, replaceContentType("text/html")) }],
  [
    "the total of tokens is text at the end of a stream alone",
    ["SSE-13"],
    { exchange: editEvents("done", (data) => editField(data, "usage.total_tokens", inText)) },
  ],
  [
    "the health of another agent has no checks",
    ["HLT-3"],
    inBody(meetsAll(responseMatcher("health", 200), urlMatcher("/storyteller/")), (all) => removeField(all, "checks")),
  ],
  [
    "the uptime is in milliseconds",
    ["HLT-8"],
    inBody(responseMatcher("health"), (all) => editField(all, "uptime", (s) => Number(s) * 1000)),
  ],
  [
    "a method that there is not has no headers",
    ["HDR-8"],
    { exchange: editWhere(isOtherMethod, replaceStatus(405), removeRateHeaders) },
  ],
  [
    "a method that there is not has no headers where one reads",
    ["HDR-8"],
    { exchange: editWhere(isPut, removeRateHeaders) },
  ],
  [
    "a failure's delivery has no input",
    ["HOOK-18"],
    inDelivery("agent.failed", (all) => removeField(all, "data.input")),
  ],
  [
    "a failure's delivery names no agent",
    ["HOOK-5"],
    inDelivery("agent.failed", (all) => removeField(all, "agent_id")),
  ],
  [
    "a timeout's delivery has a number for its id",
    ["HOOK-1"],
    inDelivery("agent.timeout", (all) => setField(all, "id", 7)),
  ],
  [
    "a webhook that is not known has an error of no form",
    ["ERR-4"],
    inBody(responseMatcher("deliveries", 404), () => ({})),
  ],
  [
    "an operation that is not known has its status in text",
    ["ERR-6"],
    inBody(responseMatcher("operations", 404), (all) => editField(all, "error.status", inText)),
  ],
  [
    "a bad alert has no message",
    ["ERR-5"],
    inBody(responseMatcher("alerts", 400), (all) => setField(all, "error.message", "")),
  ],
  [
    "the list is refused without a time to come back",
    ["ERR-8"],
    inBody(responseMatcher("list", 429), (all) => removeField(all, "error.retry_after")),
  ],
  [
    "a stream is refused with a code of its own",
    ["ERR-9"],
    inBody(responseMatcher("stream", 429), (all) => setField(all, "error.code", "TOO_MANY")),
  ],
  [
    "key usage is refused without headers",
    ["HDR-4"],
    { exchange: editWhere(responseMatcher("keyUsage", 429), removeRateHeaders) },
  ],
  ["a crash has no headers", ["HDR-5"], { exchange: editWhere(responseMatcher("invoke", 500), removeRateHeaders) }],
  [
    "an unknown agent's health has no headers",
    ["HDR-7"],
    { exchange: editWhere(responseMatcher("health", 404), removeRateHeaders) },
  ],
  [
    "a new alert has no headers",
    ["HDR-1"],
    { exchange: editWhere(responseMatcher("alerts", 200, 201), removeRateHeaders) },
  ],
  ["a refused stream is HTML", ["SVC-1"], html(responseMatcher("stream", 429))],
  [
    "a new alert is text",
    ["SVC-1"],
    { exchange: editWhere(responseMatcher("alerts", 200, 201), replaceBody("created")) },
  ],
  [
    "a new webhook is declared as text",
    ["REQ-4"],
    { exchange: editWhere(responseMatcher("webhooks", 201), replaceContentType("text/plain")) },
  ],
  [
    "warnings are numbers where an agent is degraded",
    ["HLT-10"],
    inBody(meetsAll(responseMatcher("health", 200), urlMatcher("/worn/")), (all) =>
      editField(all, "warnings", () => [1]),
    ),
  ],
  [
    "with context, the request id is a number",
    ["INV-6"],
    inBody(meetsAll(responseMatcher("invoke", 200), bodyMatcher('"context"')), (all) =>
      setField(all, "metadata.request_id", 7),
    ),
  ],
  [
    "a stream that is resumed has numbers for content",
    ["SSE-9"],
    {
      exchange: editWhere(
        bodyMatcher('"resume_from_index":2'),
        editEvents("chunk", (data) => setField(data, "content", 7)),
      ),
    },
  ],
  [
    "a slow stream begins without a message",
    ["SSE-7"],
    {
      exchange: editWhere(
        urlMatcher("/dripper/"),
        editEvents("start", (data) => removeField(data, "message")),
      ),
    },
  ],
  ["a failing stream has no code", ["SSE-15"], { exchange: editEvents("error", (data) => removeField(data, "code")) }],
];

/** Differences that a legal server may have. */
const legal: readonly (readonly [what: string, ManualMutation])[] = [
  ["says more than is asked", inBody(statusMatcher(200, 201), (all) => setField(all, "x_more", { a: [1, null] }))],
  ["heads its answers otherwise", { exchange: respellHeaders }],
  ["leaves out `usage` with parameters", inBody(withParameters, (all) => removeField(all, "usage"))],
  ["has a `null` for metadata now and then", inBody(withParameters, (all) => setField(all, "metadata", null))],
  ["writes whole numbers with a point", { exchange: editWhere(responseMatcher("usage", 200), pointed) }],
  ["sends more in a delivery", inDelivery("agent.failed", (all) => setField(all, "data.more", 1))],
  ["has another form for one endpoint", inBody(responseMatcher("alerts", 400), formB)],
  ["answers a method that there is not in HTML", html(isOtherMethod)],
  ["forbids in HTML", html(statusMatcher(403))],
];

function formB(value: unknown): unknown {
  const { error } = value as { error: { code: string; message: string } };
  const details = { field: "threshold", reason: "missing" };
  return { status: "error", error: { code: error.code, message: error.message, details } };
}

function pointed(exchange: Exchange): Exchange {
  if (!isAnswered(exchange) || exchange.answer.body.kind !== "text") return exchange;
  return replaceBody(exchange.answer.body.text.replaceAll(/("(?:used|limit|remaining)":\d+)\b/g, "$1.0"))(exchange);
}

function errorText(code: number): string {
  return JSON.stringify({ error: { code: "INVALID_INPUT", message: "No.", status: code } });
}

describe("a recorded run of which one thing is spoilt", () => {
  let embedded: EmbeddedServer;
  let clean: RecordedRun;

  const judge = (spoiling: ManualMutation): Judgement[] => judgeEvidence(suites, mutatedResults(clean, spoiling));
  const redIn = (judgements: readonly Judgement[]): string[] => [
    ...new Set(judgements.flatMap(({ check, finding }) => (finding.kind === "breach" ? [check.clause] : []))),
  ];

  beforeAll(async () => {
    embedded = await startEmbedded();
    const result = await runSuites({
      target: withSmallTiers(embedded.target),
      suites,
      maxRequests: Number.POSITIVE_INFINITY,
      maxWaitMs: 0,
      signal: new AbortController().signal,
    });
    if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
    clean = { ...result, results: resultsByProbe(result.runs) };
  });
  afterAll(() => embedded.close());

  it.each(sampleOf(wrong, { of: 2 }))("is red where %s", (_, clauses, spoiling) => {
    const judgements = judge(spoiling);
    expect(redIn(judgements)).toEqual(clauses);
    expect(judgements.filter(({ finding }) => finding.kind === "error")).toEqual([]);
  });

  it.each(sampleOf(legal, { of: 2 }))("is red nowhere where a server %s", (_, spoiling) => {
    expect(redIn(judge(spoiling))).toEqual([]);
  });

  it("reports a defect of every response once, with at most two examples", () => {
    const broken = judge({ exchange: removeRateHeaders }).filter(({ check }) => check.id === "HDR-1");
    expect(broken).toHaveLength(1);
    const [{ finding, evidenceIds } = { finding: null, evidenceIds: [] }] = broken;
    expect(finding).toMatchObject({ kind: "breach", seen: { unseen: expect.any(Array) } });
    expect(evidenceIds.length).toBeLessThanOrEqual(2);
  });
});
