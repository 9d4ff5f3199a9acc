import { describe, expect, it } from "vitest";

import { unansweredBy, wasReusedConnection } from "./describe-error.ts";

const coded = (code: string, message: string, extra: object = {}): Error =>
  Object.assign(new Error(message), { code, ...extra });

describe("a failed request", () => {
  it.each([
    [
      "no connection",
      coded("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:9"),
      "unreachable",
      "connect ECONNREFUSED 127.0.0.1:9",
    ],
    [
      "no such host",
      coded("ENOTFOUND", "getaddrinfo ENOTFOUND nowhere.invalid"),
      "unreachable",
      "getaddrinfo ENOTFOUND nowhere.invalid",
    ],
    [
      "a connection that takes too long",
      coded("UND_ERR_CONNECT_TIMEOUT", "Connect Timeout Error"),
      "unreachable",
      "no connection was made in time",
    ],
    [
      "several addresses, all refused",
      new AggregateError([coded("ECONNREFUSED", "connect ECONNREFUSED ::1:9")], ""),
      "unreachable",
      "connect ECONNREFUSED ::1:9",
    ],
    [
      "a bad certificate",
      coded("DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate"),
      "unreachable",
      "self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)",
    ],
    ["a reset", coded("ECONNRESET", "read ECONNRESET"), "broken", "read ECONNRESET"],
    [
      "an end before the answer",
      coded("UND_ERR_SOCKET", "other side closed"),
      "broken",
      "the connection was closed before the answer",
    ],
    [
      "a head that the HTTP client waited for",
      coded("UND_ERR_HEADERS_TIMEOUT", "Headers Timeout Error"),
      "broken",
      "no response head came in time",
    ],
    [
      "an answer that cannot be parsed",
      coded("HPE_INVALID_CONSTANT", "Expected HTTP/, RTSP/ or ICE/"),
      "broken",
      "its answer is not HTTP (HPE_INVALID_CONSTANT)",
    ],
    [
      "a cause within",
      new Error("request failed", { cause: coded("ECONNREFUSED", "refused") }),
      "unreachable",
      "request failed (ECONNREFUSED)",
    ],
    [
      "an assertion of the HTTP client",
      coded("ERR_ASSERTION", "falsy:\n\n  assert(x)\n"),
      "broken",
      "its answer is not HTTP",
    ],
    ["a message of several lines", coded("EX", "one\n  two"), "broken", "one two (EX)"],
    ["a value that is not an error", "odd", "broken", "odd"],
  ])("%s", (_, error, reason, detail) => {
    expect(unansweredBy(error, null, 5)).toEqual({ kind: "unanswered", reason, detail, endMs: 5 });
  });

  it("counts as silent after a deadline of the harness", () => {
    expect(unansweredBy(new Error("aborted"), "no response head within 2 s", 5)).toMatchObject({
      reason: "silent",
      detail: "no response head within 2 s",
    });
  });

  it("counts as broken if the harness closed it", () => {
    expect(unansweredBy(new Error("aborted"), "us", 5)).toMatchObject({ detail: "closed by the harness" });
  });
});

describe("a connection that ended when it was reused", () => {
  it.each([
    [coded("UND_ERR_SOCKET", "other side closed", { socket: { bytesRead: 900 } }), true],
    [coded("ECONNRESET", "reset", { socket: { bytesRead: 1 } }), true],
    [coded("UND_ERR_SOCKET", "other side closed", { socket: { bytesRead: 0 } }), false],
    [coded("ECONNREFUSED", "refused", { socket: { bytesRead: 900 } }), false],
    [new Error("anything"), false],
  ])("%s: %s", (error, expected) => {
    expect(wasReusedConnection(error)).toBe(expected);
  });
});
