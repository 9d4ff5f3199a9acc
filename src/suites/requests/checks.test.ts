import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { isLocalAddress } from "./transport-security.ts";
import { endpointOf, isSpecifiedRequest } from "../shared/all-exchanges.ts";
import type { UnusualInvokeResponses } from "./probes.ts";
import { requests } from "./checks.ts";
import { service } from "../service/checks.ts";
import { event, exchange, type ExchangeOptions, streamed, unanswered } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { versioning } from "../versioning/checks.ts";

const list: ExchangeOptions = { method: "GET", path: "/agents?page=1&limit=2" };
const usage: ExchangeOptions = { method: "GET", path: "/usage" };
const typed = (type: string): ExchangeOptions => ({ headers: [["content-type", type]] });
const seen = (...exchanges: readonly Exchange[]) => ({ all: { exchanges, validKeys: ["main"] } });

describe("the address", () => {
  it.each<[string, boolean]>([
    ["http://127.0.0.1:8080/v1", true],
    ["http://[::1]:8080/v1", true],
    ["http://[::ffff:127.0.0.1]/v1", true],
    ["http://0.0.0.0/v1", true],
    ["http://10.1.2.3/v1", true],
    ["http://172.31.0.1/v1", true],
    ["http://192.168.1.1/v1", true],
    ["http://[fd00::1]/v1", true],
    ["http://localhost/v1", true],
    ["http://api.localhost./v1", true],
    ["http://agents/v1", true],
    ["http://nas.local/v1", true],
    ["http://172.32.0.1/v1", false],
    ["http://8.8.8.8/v1", false],
    ["http://[2001:db8::1]/v1", false],
    ["http://api.acme.example/v1", false],
    ["http://localhost.acme.example/v1", false],
    ["no address", false],
  ])("%s is local: %s", (url, isLocal) => {
    expect(isLocalAddress(url)).toBe(isLocal);
  });
});

const sentAs = (type: string, status: number): Exchange =>
  exchange({ status, requestHeaders: [["Content-Type", type]], sent: { query: "Hello." } });

describe("spellings of a request", () => {
  const good = exchange({ json: { result: {} } });
  const bad = exchange({ status: 415 });
  const broken = exchange({ ending: { kind: "broken", detail: "incorrect header check" }, text: "x" });
  const apart = { whiteSpace: good, keyOrder: good, charset: good, gzip: good };
  it.each<[string, string, string, UnusualInvokeResponses]>([
    ["REQ-10", "observed", "all spellings together", { together: good, plain: null, apart: {} }],
    [
      "REQ-10",
      "observed",
      "a charset that is refused",
      { together: bad, plain: good, apart: { ...apart, charset: bad } },
    ],
    ["REQ-10", "unproven", "even the plain request is refused", { together: bad, plain: bad, apart: {} }],
    ["REQ-10", "unproven", "a limit was met", { together: exchange({ status: 429 }), plain: null, apart: {} }],
    [
      "REQ-5/white-space",
      "breach",
      "white space that is refused",
      { together: bad, plain: good, apart: { ...apart, whiteSpace: bad } },
    ],
    [
      "REQ-5/key-order",
      "breach",
      "an order of keys that is refused",
      { together: bad, plain: good, apart: { ...apart, keyOrder: bad } },
    ],
  ])("%s %s: %s", (id, kind, _case, evidence) => {
    expect(judgeBy(requests, id, evidence).kind).toBe(kind);
  });

  it.each<[string, Exchange[], string]>([
    ["is accepted", [sentAs("application/json", 200)], "holds"],
    ["is refused", [sentAs("application/json", 200), sentAs("application/json", 415)], "breach"],
    [
      "is refused with a charset",
      [sentAs("application/json", 200), sentAs("application/json; charset=utf-8", 415)],
      "holds",
    ],
    ["is never sent", [sentAs("text/plain", 415)], "unproven"],
  ])("REQ-3: a body of the plain type %s", (_case, exchanges, kind) => {
    expect(judgeBy(requests, "REQ-3", { all: { exchanges, validKeys: ["main"] } }).kind).toBe(kind);
  });

  it("finds an answer that cannot be unpacked", () => {
    const evidence: UnusualInvokeResponses = { together: broken, plain: good, apart: { ...apart, gzip: broken } };
    expect(judgeBy(service, "SVC-1/gzip", evidence).kind).toBe("breach");
    expect(judgeBy(service, "SVC-1/gzip", { together: good, plain: null, apart: {} }).kind).toBe("holds");
  });
});

describe("media types and bodies", () => {
  const stream = (type: string): Exchange =>
    streamed([event("start", { message: "hi" })], {
      requestHeaders: [["Accept", "text/event-stream"]],
      headers: [["Content-Type", type]],
    });
  it.each<[string, string, string, Exchange]>([
    ["REQ-4/json", "holds", "JSON with a charset", exchange({ ...typed("application/json; charset=utf-8"), json: {} })],
    ["REQ-4/json", "holds", "JSON in capitals", exchange({ ...typed("Application/JSON"), json: {} })],
    ["REQ-4/json", "holds", "no type", exchange({ headers: [], json: {} })],
    ["REQ-4/json", "breach", "an error as HTML", exchange({ ...typed("text/html"), status: 400, json: {} })],
    ["REQ-4/json", "breach", "HTML", exchange({ ...typed("text/html"), json: {} })],
    ["REQ-4/json", "unproven", "HTML of an unknown path", exchange({ ...typed("text/html"), path: "/nowhere" })],
    ["REQ-4/stream", "holds", "events with a charset", stream("text/event-stream;charset=utf-8")],
    ["REQ-4/stream", "breach", "a stream as plain text", stream("text/plain")],
    ["REQ-4/stream", "unproven", "a refused stream", exchange({ path: "/agents/echo/stream", status: 400 })],
    ["SVC-2", "holds", "events", stream("text/event-stream")],
    [
      "SVC-2",
      "breach",
      "JSON where a stream was asked for",
      exchange({ path: "/agents/echo/stream", json: { result: {} } }),
    ],
    ["SVC-2", "unproven", "no stream was asked for", exchange()],
    ["SVC-1/answers", "holds", "JSON", exchange({ json: {} })],
    ["SVC-1/answers", "breach", "JSON with a comma too many", exchange({ text: '{"a":1,}' })],
    ["SVC-1/answers", "breach", "plain text with a 401", exchange({ status: 401, text: "Unauthorized" })],
    ["SVC-1/answers", "unproven", "HTML with a 503", exchange({ status: 503, text: "<html>" })],
    [
      "SVC-1/answers",
      "unproven",
      "HTML of an unknown path",
      exchange({ path: "/nowhere", status: 404, text: "<html>" }),
    ],
    [
      "SVC-1/answers",
      "unproven",
      "half of it, then silence",
      exchange({ text: "{", ending: { kind: "deadline", detail: "silent" } }),
    ],
    ["SVC-1/answers", "unproven", "no answer", unanswered()],
  ])("%s %s: %s", (id, kind, _case, each) => {
    expect(judgeBy(id.startsWith("SVC") ? service : requests, id, seen(each)).kind).toBe(kind);
  });
});

it.each<[string, string, Exchange, Exchange]>([
  ["holds", "both are there", exchange(list), exchange(usage)],
  ["holds", "usage answers 500", exchange(list), exchange({ ...usage, status: 500 })],
  ["holds", "usage answers 404", exchange(list), exchange({ ...usage, status: 404 })],
  ["unproven", "both answer 404", exchange({ ...list, status: 404 }), exchange({ ...usage, status: 404 })],
  ["unproven", "both answer 500", exchange({ ...list, status: 500 }), exchange({ ...usage, status: 500 })],
])("SVC-3 %s: %s", (kind, _case, listing, read) => {
  expect(judgeBy(service, "SVC-3", { listing, usage: read }).kind).toBe(kind);
});

/** An exchange with a path of the origin. */
function at(path: string, options: Parameters<typeof exchange>[0]): Exchange {
  const made = exchange({ method: "GET", ...options });
  return { ...made, request: { ...made.request, url: new URL(path, made.request.url).href } };
}

it.each<[string, string, Exchange]>([
  ["breach", "another version", at("/v2/usage", { json: { requests: {}, tokens: {} } })],
  ["breach", "no version, in the envelope", at("/usage", { json: { status: "success", data: { requests: {} } } })],
  ["holds", "a page of the site", at("/usage", { text: "<html>" })],
  ["holds", "nothing", at("/usage", { status: 404 })],
])("SVC-3 %s if usage answers 404 and elsewhere is %s", (kind, _case, found) => {
  const evidence = { listing: exchange(list), usage: exchange({ ...usage, status: 404 }), elsewhere: [found] };
  expect(judgeBy(service, "SVC-3", evidence).kind).toBe(kind);
});

describe("response shapes", () => {
  const page = { page: 1, limit: 2, total: 0, pages: 0 };
  const report = { period: "2026-03-04T05:06:07Z", requests: { used: 1 }, tokens: { used: 1 } };
  const metadata = { execution_time: 0.1, tokens_used: 3 };
  it.each<[string, string, string, readonly Exchange[]]>([
    ["REQ-7/list", "fields at the top", "top-level", [exchange({ ...list, json: { data: [], pagination: page } })]],
    [
      "REQ-7/list",
      "fields at the top beside an extra status",
      "top-level",
      [exchange({ ...list, json: { status: "success", data: [], pagination: page } })],
    ],
    [
      "REQ-7/list",
      "the envelope",
      "envelope",
      [exchange({ ...list, json: { status: "success", data: { result: { data: [], pagination: page }, metadata } } })],
    ],
    [
      "REQ-7/list",
      "another wrapper",
      "breach",
      [exchange({ ...list, json: { payload: { data: [], pagination: page } } })],
    ],
    ["REQ-7/list", "no list at all", "unproven", [exchange({ ...list, json: { agents: 0 } })]],
    ["REQ-7/usage", "fields at the top", "top-level", [exchange({ ...usage, json: report })]],
    ["REQ-7/usage", "the envelope", "envelope", [exchange({ ...usage, json: { status: "success", data: report } })]],
    [
      "REQ-7/usage",
      "now this, now that",
      "breach",
      [exchange({ ...usage, json: report }), exchange({ ...usage, json: { status: "success", data: report } })],
    ],
    ["REQ-8", "no envelope", "absent", [exchange({ ...usage, json: report })]],
    [
      "REQ-8",
      "an envelope",
      "envelope",
      [exchange({ ...usage, json: { status: "success", data: { result: report, metadata } } })],
    ],
    ["REQ-8", "status ok", "breach", [exchange({ ...usage, json: { status: "ok", data: { result: report } } })]],
    [
      "REQ-8",
      "tokens that are text",
      "breach",
      [exchange({ ...usage, json: { status: "success", data: { result: report, metadata: { tokens_used: "3" } } } })],
    ],
    ["REQ-8", "no answers", "unproven", [exchange({ ...usage, status: 500 })]],
  ])("%s with %s: %s", (id, _case, kind, exchanges) => {
    const finding = judgeBy(requests, id, seen(...exchanges));
    expect(finding.kind === "follows" ? finding.reading : finding.kind).toBe(kind);
  });
});

describe("versions", () => {
  const ofInvoke = (version: unknown): Exchange => exchange({ json: { metadata: { agent_version: version } } });
  const ofHealth = (version: unknown, agent = "echo"): Exchange =>
    exchange({ method: "GET", path: `/agents/${agent}/health`, json: { version } });
  it.each<[string, string, readonly Exchange[]]>([
    ["same", "one version in both", [ofInvoke("1.0"), ofHealth("1.0")]],
    ["breach", "two versions", [ofInvoke("1.0"), ofHealth("1.1")]],
    ["not-shown", "versions of two agents", [ofInvoke("1.0"), ofHealth("1.1", "other")]],
    ["not-shown", "a version in one of them alone", [ofInvoke(undefined), ofHealth("1.1")]],
    ["not-shown", "a version that is a number", [ofInvoke(1), ofHealth("1.1")]],
    ["unproven", "no health was read", [ofInvoke("1.0")]],
  ])("VER-4 %s: %s", (kind, _case, exchanges) => {
    const finding = judgeBy(versioning, "VER-4", seen(...exchanges));
    expect(finding.kind === "follows" ? finding.reading : finding.kind).toBe(kind);
  });

  const redirected = (location: string): Exchange =>
    exchange({ ...usage, status: 308, headers: [["Location", location]] });
  it.each<[string, string, readonly Exchange[]]>([
    ["an answer", "holds", [exchange()]],
    ["a redirect to another version", "breach", [exchange(), redirected("/v2/usage")]],
    ["a redirect within the version", "holds", [exchange(), redirected("/v1/usage/")]],
    ["no success", "unproven", [exchange({ status: 500 })]],
  ])("VER-1 with %s: %s", (_case, kind, exchanges) => {
    expect(judgeBy(versioning, "VER-1", seen(...exchanges)).kind).toBe(kind);
  });
});

describe("endpoints", () => {
  it.each<[string, string, string | null]>([
    ["POST", "/agents/a%20b/invoke", "invoke"],
    ["POST", "/agents/echo/stream", "stream"],
    ["GET", "/agents/echo/health", "health"],
    ["GET", "/agents?page=1", "list"],
    ["GET", "/agents", "list"],
    ["GET", "/usage", "usage"],
    ["GET", "/keys/usage", "keyUsage"],
    ["GET", "/keys", null],
    ["DELETE", "/usage", null],
    ["GET", "/agents/echo/invoke", null],
    ["GET", "/agents/echo", null],
  ])("%s %s is %s", (method, path, endpoint) => {
    expect(endpointOf(exchange({ method, path }))).toBe(endpoint);
  });

  it("counts a request with a body that is not declared and written as JSON as undescribed", () => {
    const json: ExchangeOptions = {
      sent: { query: "x" },
      requestHeaders: [["content-type", "application/json; charset=utf-8"]],
    };
    expect(isSpecifiedRequest(exchange(json))).toBe(true);
    expect(isSpecifiedRequest(exchange({ ...json, requestHeaders: [["Content-Type", "text/plain"]] }))).toBe(false);
  });
});

describe("the envelope of endpoints whose fields are not shown", () => {
  const operation = (json: unknown) => exchange({ method: "GET", path: "/operations/op-1", json });
  const envelope = (metadata: unknown) => operation({ status: "success", data: { result: {}, metadata } });
  it.each([
    ["is absent", operation({ status: "completed", data: { metadata: { execution_time: "1 s" } } }), "holds"],
    ["has numbers", envelope({ execution_time: 1.5, tokens_used: 7 }), "holds"],
    ["has no metadata", envelope(null), "holds"],
    ["has text for a number", envelope({ execution_time: "1.5", tokens_used: 7 }), "breach"],
    ["has a fraction of a token", envelope({ execution_time: 1.5, tokens_used: 7.5 }), "breach"],
  ])("%s", (_, given, expected) => {
    const all = { exchanges: [given], validKeys: ["main"] };
    expect(judgeBy(requests, "REQ-8/other endpoints", { all, keyUsage: {} }).kind).toBe(expected);
  });
});
