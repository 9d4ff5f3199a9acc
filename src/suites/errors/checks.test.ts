import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { errors } from "./checks.ts";
import { exchange, type ExchangeOptions } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";

const formA = (status: number, code: string, more: object = {}, options: ExchangeOptions = {}): Exchange =>
  exchange({ status, json: { error: { code, message: "no", status, ...more } }, ...options });
const formB = (status: number, code: string, more: object = {}, options: ExchangeOptions = {}): Exchange =>
  exchange({ status, json: { status: "error", error: { code, message: "no", ...more } }, ...options });

const judge = (id: string, ...exchanges: readonly Exchange[]) =>
  judgeBy(errors, id, { all: { exchanges, validKeys: ["main"] } });

const readingOrKind = (id: string, ...exchanges: readonly Exchange[]): string => {
  const finding = judge(id, ...exchanges);
  return finding.kind === "follows" ? finding.reading : finding.kind;
};

const date = ["Date", "Wed, 04 Mar 2026 05:06:07 GMT"] as const;
const rateLimitB = (details: object, headers: readonly (readonly [string, string])[] = [date]): Exchange =>
  formB(429, "RATE_LIMITED", { details }, { headers });
const soon = { limit: 10, remaining: 0, reset_at: "2026-03-04T05:06:37Z", retry_after: 30 };
const html = exchange({ status: 401, text: "<html>", headers: [["Content-Type", "text/html"]] });
const unknownHook: ExchangeOptions = { method: "GET", path: "/webhooks/w1/deliveries" };
const deliveries = exchange(unknownHook).request;
const usage: ExchangeOptions = { method: "GET", path: "/usage" };

describe("error bodies", () => {
  it.each<[string, string, string, readonly Exchange[]]>([
    ["ERR-2", "form A", "form-a", [formA(400, "X"), formA(404, "Y")]],
    ["ERR-2", "form B", "form-b", [formB(400, "X", { details: { field: "query" } }), formB(404, "Y")]],
    ["ERR-2", "both at once", "both", [formB(400, "X", { status: 400 })]],
    ["ERR-2", "form A with details", "form-a", [formA(400, "X", { details: {} })]],
    ["ERR-2", "form B, and sometimes both", "form-b", [formB(400, "X"), formB(404, "Y", { status: 404 })]],
    ["ERR-2", "form A here and form B there", "by-occasion", [formA(400, "X"), formB(404, "Y")]],
    ["ERR-2", "form A on invoke and form B on usage", "form-a", [formA(400, "X"), formB(401, "Y", {}, usage)]],
    ["ERR-4", "form A on invoke and form B on usage", "form-b", [formA(400, "X"), formB(401, "Y", {}, usage)]],
    ["ERR-2", "neither form", "breach", [exchange({ status: 400, json: { error: { code: "X", message: "no" } } })]],
    ["ERR-2", "an error that is text", "breach", [exchange({ status: 400, json: { error: "no" } })]],
    ["ERR-2", "no body", "breach", [exchange({ status: 400 })]],
    ["ERR-2", "HTML, which SVC-1 judges", "unproven", [html]],
    ["ERR-2", "a request outside the document", "unproven", [exchange({ status: 400, json: {}, path: "/nowhere" })]],
    ["ERR-2", "an undocumented status", "unproven", [exchange({ status: 413, json: {} })]],
    ["ERR-3", "form A", "form-a", [formA(400, "X", {}, { path: "/agents/echo/stream" })]],
    [
      "ERR-4",
      "a health report with status 500",
      "unproven",
      [exchange({ method: "GET", path: "/agents/a/health", status: 500, json: { status: "unhealthy", checks: {} } })],
    ],
    ["ERR-4", "HTML for an unknown webhook, which SVC-1 judges", "unproven", [{ ...html, request: deliveries }]],
    ["ERR-4", "no form for an unknown webhook", "breach", [exchange({ ...unknownHook, status: 404, json: {} })]],
    ["ERR-4", "no form for a path that may not exist", "unproven", [exchange({ ...usage, status: 404, json: {} })]],
    ["ERR-5", "a code and a message", "holds", [formA(400, "X")]],
    ["ERR-5", "no message", "breach", [formA(400, "X", { message: "" })]],
    ["ERR-5", "a code that is a number", "breach", [formB(400, "X", { code: 7 })]],
    ["ERR-6", "the HTTP status", "form-a", [formA(400, "X")]],
    ["ERR-6", "form B", "absent", [formB(400, "X")]],
    ["ERR-6", "another status", "breach", [formA(400, "X", { status: 401 })]],
    ["ERR-6", "a status that is text", "breach", [formA(400, "X", { status: "400" })]],
    ["ERR-6", "no errors", "unproven", []],
    ["ERR-7", "details", "form-b", [formB(400, "X", { details: { field: "query" } })]],
    ["ERR-7", "no details", "form-b", [formB(400, "X")]],
    ["ERR-7", "details that are text", "breach", [formB(400, "X", { details: "query" })]],
    ["ERR-7", "form A with any details", "absent", [formA(400, "X", { details: "query" })]],
    ["ERR-15", "field and reason", "form-b", [formB(400, "INVALID_INPUT", { details: { field: "a", reason: "b" } })]],
    [
      "ERR-15",
      "field and reason of each of several",
      "form-b",
      [formB(400, "INVALID_INPUT", { details: { errors: [{ field: "a", reason: "b" }] } })],
    ],
    ["ERR-15", "no reason", "breach", [formB(400, "INVALID_INPUT", { details: { field: "a" } })]],
    ["ERR-15", "no field for a body without fields", "unproven", [formB(400, "INVALID_INPUT", {}, { sent: "text" })]],
    [
      "ERR-15",
      "no field for a body that may be too long",
      "unproven",
      [formB(400, "INVALID_INPUT", {}, { sent: { query: "a".repeat(9000) } })],
    ],
    ["ERR-15", "form A", "absent", [formA(400, "INVALID_INPUT")]],
    ["ERR-15", "another code", "unproven", [formB(400, "X")]],
  ])("%s with %s: %s", (id, _case, kind, exchanges) => {
    expect(readingOrKind(id, ...exchanges)).toBe(kind);
  });
});

describe("error codes", () => {
  it.each<[string, string, string, readonly Exchange[]]>([
    ["ERR-1", "a documented status", "holds", [formA(404, "AGENT_NOT_FOUND")]],
    ["ERR-1", "another status", "breach", [formA(422, "MISSING_REQUIRED_FIELD")]],
    ["ERR-1", "another status for an undocumented case", "unproven", [formA(403, "FORBIDDEN")]],
    ["ERR-10", "its own status", "holds", [formA(401, "INVALID_API_KEY")]],
    ["ERR-10", "another status", "breach", [formA(400, "AGENT_NOT_FOUND")]],
    ["ERR-10", "a code for streams in a 500", "unproven", [formA(500, "STREAM_ERROR")]],
    ["ERR-10", "a code named like a method of objects", "unproven", [formA(400, "toString")]],
  ])("%s with %s: %s", (id, _case, kind, exchanges) => {
    expect(readingOrKind(id, ...exchanges)).toBe(kind);
  });

  it("observes codes outside the table, and the form of each endpoint", () => {
    const evidence = [formA(500, "BOOM"), formB(401, "INVALID_API_KEY", {}, usage)];
    expect(judge("ERR-11", ...evidence)).toMatchObject({ text: "codes outside the table: BOOM; codes of 500: BOOM" });
    expect(judge("ERR-12", ...evidence)).toMatchObject({ text: "invoke: form-a; usage: form-b" });
  });

  it.each<[string, Exchange, Exchange, string]>([
    ["500 with an error", formA(500, "X"), exchange(), "holds"],
    ["502", formA(502, "X"), exchange(), "holds"],
    ["200", exchange({ json: {} }), exchange(), "breach"],
    ["500 without a body", exchange({ status: 500 }), exchange(), "breach"],
    ["500 with HTML", exchange({ status: 500, text: "<html>" }), exchange(), "unproven"],
    ["400, as any invoke", formA(400, "X"), formA(400, "X"), "unproven"],
  ])("ERR-13 if the failing agent answers %s", (_case, failed, control, kind) => {
    expect(judgeBy(errors, "ERR-13", { failing: { failed }, invoked: { exchange: control } }).kind).toBe(kind);
  });
});

describe("errors of a limit", () => {
  it.each<[string, string, string, readonly Exchange[]]>([
    ["ERR-8", "none", "unproven", [formA(400, "X")]],
    ["ERR-8", "retry_after in form A", "form-a", [formA(429, "RATE_LIMITED", { retry_after: 3.5 })]],
    ["ERR-8", "no retry_after", "breach", [formA(429, "RATE_LIMITED")]],
    ["ERR-8", "retry_after as text", "breach", [formA(429, "RATE_LIMITED", { retry_after: "3" })]],
    ["ERR-8", "form B's details", "form-b", [rateLimitB(soon)]],
    ["ERR-8", "form B without limit", "breach", [rateLimitB({ ...soon, limit: undefined })]],
    ["ERR-8", "form B with retry_after outside details", "breach", [formB(429, "RATE_LIMITED", { retry_after: 3 })]],
    ["ERR-8", "one form here, another there", "by-occasion", [formA(429, "X", { retry_after: 3 }), rateLimitB(soon)]],
    ["ERR-9", "the first name", "RATE_LIMIT_EXCEEDED", [formA(429, "RATE_LIMIT_EXCEEDED")]],
    ["ERR-9", "both names", "by-endpoint", [formA(429, "RATE_LIMIT_EXCEEDED"), formA(429, "RATE_LIMITED")]],
    ["ERR-9", "another name", "breach", [formA(429, "TOO_MANY")]],
    ["ERR-16", "agreement", "form-b", [rateLimitB(soon)]],
    ["ERR-16", "form A", "absent", [formA(429, "RATE_LIMITED", { retry_after: 3 })]],
    ["ERR-16", "Unix seconds", "breach", [rateLimitB({ ...soon, reset_at: 1_772_600_797 })]],
    ["ERR-16", "no timestamp", "breach", [rateLimitB({ ...soon, reset_at: "soon" })]],
    ["ERR-16", "yesterday", "breach", [rateLimitB({ ...soon, reset_at: "2026-03-03T05:06:37Z" })]],
    ["ERR-16", "yesterday, as a week date", "breach", [rateLimitB({ ...soon, reset_at: "2026-W10-2T05:06:37Z" })]],
    ["ERR-16", "the day of the year", "form-b", [rateLimitB({ ...soon, reset_at: "2026-063T05:06:37Z" })]],
    ["ERR-16", "an hour too late", "breach", [rateLimitB({ ...soon, reset_at: "2026-03-04T06:06:37Z" })]],
    [
      "ERR-16",
      "the end of a window, with a longer wait",
      "form-b",
      [rateLimitB({ ...soon, reset_at: "2026-03-04T05:06:17Z" })],
    ],
    [
      "ERR-16",
      "the end of a window, with a wait of two minutes",
      "form-b",
      [rateLimitB({ ...soon, retry_after: 120 })],
    ],
    [
      "ERR-16",
      "the end of a window, with a wait in milliseconds",
      "breach",
      [rateLimitB({ ...soon, retry_after: 3000 })],
    ],
    ["ERR-16", "no zone", "form-b", [rateLimitB({ ...soon, reset_at: "2026-03-04T06:06:37" })]],
    ["ERR-16", "no clock to compare with", "form-b", [rateLimitB({ ...soon, reset_at: "2027-03-04T06:06:37Z" }, [])]],
    [
      "ERR-16",
      "the end of a window with requests left, while the month's tokens are exhausted",
      "form-b",
      [
        rateLimitB({ ...soon, remaining: 4, retry_after: 2_000_000 }, [
          date,
          ["X-RateLimit-Remaining", "4"],
          ["X-RateLimit-Reset", String(Date.UTC(2026, 2, 4, 5, 6, 37) / 1000)],
          ["X-RateLimit-Reset-After", "30"],
        ]),
      ],
    ],
    [
      "ERR-16",
      "the end of a longer window that the headers name, after a short wait for a slot",
      "form-b",
      [
        rateLimitB({ ...soon, retry_after: 1 }, [
          date,
          ["X-RateLimit-Reset", String(Date.UTC(2026, 2, 4, 5, 6, 37) / 1000)],
          ["X-RateLimit-Reset-After", "30"],
        ]),
      ],
    ],
  ])("%s with %s: %s", (id, _case, kind, exchanges) => {
    expect(readingOrKind(id, ...exchanges)).toBe(kind);
  });
});
