import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { isLocalAddress } from "./local-address.ts";
import { endpointOf, isDescribed } from "../answers/recorded.ts";
import type { Spelt } from "./probes.ts";
import { requests } from "./checks.ts";
import { service } from "../service/checks.ts";
import { event, exchange, type Made, streamed, unanswered } from "../testing/exchange.ts";
import { judgeBy } from "../testing/judging.ts";
import { versioning } from "../versioning/checks.ts";

const list: Made = { method: "GET", path: "/agents?page=1&limit=2" };
const usage: Made = { method: "GET", path: "/usage" };
const typed = (type: string): Made => ({ headers: [["content-type", type]] });
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

describe("spellings of a request", () => {
  const good = exchange({ json: { result: {} } });
  const bad = exchange({ status: 415 });
  const broken = exchange({ ending: { kind: "broken", detail: "incorrect header check" }, text: "x" });
  const apart = { whiteSpace: good, keyOrder: good, charset: good, gzip: good };
  it.each<[string, string, Spelt]>([
    ["REQ-3", "holds", { together: good, plain: null, apart: {} }],
    ["REQ-3", "breach", { together: bad, plain: good, apart: { ...apart, charset: bad } }],
    ["REQ-3", "holds", { together: bad, plain: good, apart: { ...apart, whiteSpace: bad } }],
    ["REQ-3", "unproven", { together: bad, plain: bad, apart: {} }],
    ["REQ-3", "unproven", { together: exchange({ status: 429 }), plain: null, apart: {} }],
    ["REQ-5/white-space", "breach", { together: bad, plain: good, apart: { ...apart, whiteSpace: bad } }],
    ["REQ-5/key-order", "breach", { together: bad, plain: good, apart: { ...apart, keyOrder: bad } }],
  ])("%s %s", (id, kind, evidence) => {
    expect(judgeBy(requests, id, evidence).kind).toBe(kind);
  });

  it("finds an answer that cannot be unpacked", () => {
    const evidence: Spelt = { together: broken, plain: good, apart: { ...apart, gzip: broken } };
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
  it.each<[string, string, Exchange]>([
    ["REQ-4/json", "holds", exchange(typed("application/json; charset=utf-8"))],
    ["REQ-4/json", "holds", exchange(typed("Application/JSON"))],
    ["REQ-4/json", "holds", exchange({ headers: [] })],
    ["REQ-4/json", "breach", exchange(typed("text/html"))],
    ["REQ-4/json", "unproven", exchange({ ...typed("text/html"), path: "/nowhere" })],
    ["REQ-4/stream", "holds", stream("text/event-stream;charset=utf-8")],
    ["REQ-4/stream", "breach", stream("text/plain")],
    ["REQ-4/stream", "unproven", exchange({ path: "/agents/echo/stream", status: 400 })],
    ["SVC-2", "holds", stream("text/event-stream")],
    ["SVC-2", "breach", exchange({ path: "/agents/echo/stream", json: { result: {} } })],
    ["SVC-2", "unproven", exchange()],
    ["SVC-1/answers", "holds", exchange({ json: {} })],
    ["SVC-1/answers", "breach", exchange({ text: '{"a":1,}' })],
    ["SVC-1/answers", "breach", exchange({ status: 401, text: "Unauthorized" })],
    ["SVC-1/answers", "unproven", exchange({ status: 503, text: "<html>" })],
    ["SVC-1/answers", "unproven", exchange({ path: "/nowhere", status: 404, text: "<html>" })],
    ["SVC-1/answers", "unproven", exchange({ text: "{", ending: { kind: "deadline", detail: "silent" } })],
    ["SVC-1/answers", "unproven", unanswered()],
  ])("%s %s", (id, kind, each) => {
    expect(judgeBy(id.startsWith("SVC") ? service : requests, id, seen(each)).kind).toBe(kind);
  });
});

it.each<[string, Exchange, Exchange]>([
  ["holds", exchange(list), exchange(usage)],
  ["holds", exchange(list), exchange({ ...usage, status: 500 })],
  ["breach", exchange(list), exchange({ ...usage, status: 404 })],
  ["unproven", exchange({ ...list, status: 500 }), exchange({ ...usage, status: 500 })],
])("SVC-3 %s", (kind, listing, read) => {
  expect(judgeBy(service, "SVC-3", { listing, usage: read }).kind).toBe(kind);
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
  it.each<[string, readonly Exchange[]]>([
    ["same", [ofInvoke("1.0"), ofHealth("1.0")]],
    ["breach", [ofInvoke("1.0"), ofHealth("1.1")]],
    ["not-shown", [ofInvoke("1.0"), ofHealth("1.1", "other")]],
    ["not-shown", [ofInvoke(undefined), ofHealth("1.1")]],
    ["not-shown", [ofInvoke(1), ofHealth("1.1")]],
    ["unproven", [ofInvoke("1.0")]],
  ])("VER-4 %s", (kind, exchanges) => {
    const finding = judgeBy(versioning, "VER-4", seen(...exchanges));
    expect(finding.kind === "follows" ? finding.reading : finding.kind).toBe(kind);
  });

  const moved = (location: string): Exchange => exchange({ ...usage, status: 308, headers: [["Location", location]] });
  it.each<[string, string, readonly Exchange[]]>([
    ["an answer", "holds", [exchange()]],
    ["a redirect to another version", "breach", [exchange(), moved("/v2/usage")]],
    ["a redirect within the version", "holds", [exchange(), moved("/v1/usage/")]],
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
    ["GET", "/keys/usage", null],
    ["DELETE", "/usage", null],
    ["GET", "/agents/echo/invoke", null],
    ["GET", "/agents/echo", null],
  ])("%s %s is %s", (method, path, endpoint) => {
    expect(endpointOf(exchange({ method, path }))).toBe(endpoint);
  });

  it("counts a request with a body that is not declared and written as JSON as undescribed", () => {
    const json: Made = { sent: { query: "x" }, requestHeaders: [["content-type", "application/json; charset=utf-8"]] };
    expect(isDescribed(exchange(json))).toBe(true);
    expect(isDescribed(exchange({ ...json, requestHeaders: [["Content-Type", "text/plain"]] }))).toBe(false);
  });
});
