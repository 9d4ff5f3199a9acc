import { describe, expect, it } from "vitest";
import { bodyMismatches, bodyRules, type EndpointResponse } from "./rules.ts";

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
const metadata = { execution_time: 0.2, agent_version: "1.0.0", request_id: "r1" };
const invoked = { result: { text: "Hello." }, usage, metadata };
const report = { status: "healthy", checks: { dependencies: { db: "slow" } }, uptime: 3, warnings: ["w"] };
const formA = { error: { code: "RATE_LIMITED", message: "no", status: 429, retry_after: 3 } };
const details = { limit: 10, remaining: 0, reset_at: "2026-03-04T05:06:07Z", retry_after: 3 };
const formB = { status: "error", error: { code: "RATE_LIMIT_EXCEEDED", message: "no", details } };

const answer = (json: unknown, other: Partial<EndpointResponse> = {}): EndpointResponse => ({
  endpoint: "invoke",
  status: 200,
  json,
  text: json === undefined ? "" : JSON.stringify(json),
  contentType: "application/json",
  ...other,
});
const refused = (json: unknown, other: Partial<EndpointResponse> = {}) => answer(json, { status: 429, ...other });
const health = (json: unknown, other: Partial<EndpointResponse> = {}) => answer(json, { endpoint: "health", ...other });
const errorOf = (more: object) => ({ error: { ...formA.error, ...more } });

describe("what an answer says by itself", () => {
  it.each<[string, EndpointResponse]>([
    ["an invoke", answer(invoked)],
    ["an invoke with nothing optional", answer({ result: {} })],
    ["optional fields that are null", answer({ result: {}, usage: null, metadata: { execution_time: null } })],
    ["a type with a parameter", answer(invoked, { contentType: "application/json; charset=utf-8" })],
    ["no type", answer(invoked, { contentType: null })],
    ["a report", health(report)],
    ["a report under 500", health(report, { status: 500 })],
    ["a refusal in form A", refused(formA)],
    ["a refusal in form B", refused(formB, { endpoint: "stream" })],
    ["both forms at once", refused({ status: "error", error: { ...formB.error, status: 429 } })],
    ["a listing, whose shape is open", answer([], { endpoint: "list" })],
    ["a status that the document does not have", answer({}, { status: 503 })],
  ])("is sound: %s", (_, correct) => {
    expect(bodyMismatches(correct)).toStrictEqual([]);
  });

  it.each<[string, string, EndpointResponse]>([
    ["SVC-1", "HTML", refused(undefined, { text: "<html>", contentType: "text/html" })],
    ["REQ-4", "JSON as a text", answer(invoked, { contentType: "text/plain" })],
    ["ERR-2", "an error that is text", refused({ error: "no" })],
    ["ERR-2", "no body", refused(undefined)],
    ["ERR-3", "no error", refused({}, { endpoint: "stream" })],
    ["ERR-4", "no error", refused({}, { endpoint: "usage" })],
    ["ERR-5", "no message", refused(errorOf({ message: "" }))],
    ["ERR-6", "another status inside", refused(errorOf({ status: 400 }))],
    [
      "ERR-7",
      "details that are text",
      answer({ status: "error", error: { code: "X", message: "no", details: "d" } }, { status: 400 }),
    ],
    ["ERR-8", "no retry_after", refused(errorOf({ retry_after: undefined }))],
    [
      "ERR-8",
      "a remaining that is text",
      refused({ ...formB, error: { ...formB.error, details: { ...details, remaining: "0" } } }),
    ],
    ["ERR-9", "another code", refused(errorOf({ code: "TOO_MANY" }))],
    ["ERR-10", "a code of another status", answer(errorOf({ code: "AGENT_NOT_FOUND", status: 400 }), { status: 400 })],
    ["INV-2", "a result that is text", answer({ result: "Hello." })],
    ["INV-2", "an array", answer([])],
    ["INV-3", "tokens with a fraction", answer({ ...invoked, usage: { ...usage, total_tokens: 1.5 } })],
    ["INV-4", "a time as text", answer({ ...invoked, metadata: { execution_time: "fast" } })],
    ["INV-5", "a version that is a number", answer({ ...invoked, metadata: { agent_version: 1 } })],
    ["INV-6", "an id that is a number", answer({ ...invoked, metadata: { request_id: 1 } })],
    ["HLT-2", "another status", health({ ...report, status: "fine" })],
    ["HLT-3", "no checks", health({ status: "healthy" })],
    ["HLT-4", "an agent that is text", health({ ...report, checks: { agent: "up" } })],
    ["HLT-5", "a dependency that is true", health({ ...report, checks: { dependencies: { db: true } } })],
    ["HLT-6", "a share as text", health({ ...report, checks: { resources: { cpu_usage_percent: "3" } } })],
    ["HLT-7", "a version that is a number", health({ ...report, version: 1 })],
    ["HLT-8", "an uptime as text", health({ ...report, uptime: "3 s" })],
    ["HLT-9", "Unix seconds", health({ ...report, last_request: 1_772_600_767 })],
    ["HLT-10", "a warning that is an object", health({ ...report, warnings: [{}] })],
  ])("breaks %s alone: %s", (clause, _, broken) => {
    expect(bodyMismatches(broken).map((flaw) => flaw.clause)).toStrictEqual([clause]);
  });

  it("has no rule that nothing can break", () => {
    expect(new Set(bodyRules.map(({ clause }) => clause)).size).toBe(bodyRules.length);
  });
});
