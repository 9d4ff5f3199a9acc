import { describe, expect, it } from "vitest";

import type { Answered } from "../../evidence/exchange.ts";
import { exchangeLines, deliveryLines } from "./exchange-text.ts";
import { sampleExchange, textBody, sampleDelivery } from "../testing/sample.ts";
import type { DeliveryReply } from "../../evidence/delivery.ts";

const answered = (answer: Partial<Answered>): string[] =>
  exchangeLines(sampleExchange("x1", { headers: [], body: { kind: "none" } }, answer)).slice(1);

describe("an exchange as text", () => {
  it("looks like the messages on the wire", () => {
    expect(exchangeLines(sampleExchange("x1"))).toEqual([
      "> POST http://127.0.0.1:8080/v1/agents/echo/invoke",
      "> Authorization: Bearer [redacted key]",
      "> Accept: application/json",
      "> Content-Type: application/json",
      ">",
      '> {"query":"hello"}',
      "< 200",
      "< Content-Type: application/json",
      "<",
      '< {"result":{}}',
    ]);
  });

  it("says why there is no response", () => {
    const answer = { kind: "unanswered", reason: "silent", detail: "no response head within 10 s", endMs: 9 } as const;
    expect(exchangeLines(sampleExchange("x1", {}, answer)).at(-1)).toBe("* silent: no response head within 10 s");
  });

  it.each([
    {
      name: "a broken one",
      ending: { kind: "broken", detail: "other side\nclosed" },
      says: "* the response broke off after 0.09 s: other side closed",
    },
    {
      name: "one past its deadline",
      ending: { kind: "deadline", detail: "silent" },
      says: "* the harness gave up after 0.09 s: silent",
    },
    {
      name: "one that we closed",
      ending: { kind: "closed by us" },
      says: "* closed by the harness on purpose, after 0.09 s",
    },
  ] as const)("says how $name ended", ({ ending, says }) => {
    expect(answered({ headers: [], endMs: 100, ending }).at(-1)).toBe(says);
  });

  it("counts the events of a stream", () => {
    const events = [{ name: "start", data: "{}", atMs: 20 }];
    expect(answered({ endMs: 260, events }).at(-1)).toBe("* 1 event in the stream, which ended after 0.25 s");
  });

  it("marks every line of a body, so that none can pass for a line of the report", () => {
    const body = textBody("a\r\n\r\n* all is well\n> GET /\n");
    expect(answered({ headers: [], body })).toEqual(["< 200", "<", "< a", "<", "< * all is well", "< > GET /"]);
  });

  it("escapes control characters and invisible characters", () => {
    const body = textBody("\u001b]0;t\u0007\u001b[2Jx\ry\u009b1m\u202ez\u0000");
    const lines = answered({ headers: [["X-A\u001b", "\u001b[31m"]], body });
    expect(lines).toEqual([
      "< 200",
      String.raw`< X-A\x1b: \x1b[31m`,
      "<",
      String.raw`< \x1b]0;t\x07\x1b[2Jx\ry\x9b1m\u{202e}z\x00`,
    ]);
  });

  it.each([
    { name: "a long line", text: `a${"x".repeat(4998)}z`, says: "about 3,800 characters left out here" },
    { name: "many lines", text: `a\n${"x\n".repeat(500)}z\n\n`, says: "about 957 characters left out here" },
    { name: "emoji", text: `a${"🙂".repeat(2000)}z`, says: "about 2,804 characters left out here" },
  ])("shows the beginning and the end of $name, and says so", ({ text, says }) => {
    const lines = answered({ headers: [], body: textBody(text) });
    expect(lines).toContain(`* ${says}`);
    expect(lines[2]).toMatch(/^< a/);
    expect(lines.at(-1)).toMatch(/z$/);
    expect(lines.length).toBeLessThan(30);
    expect(lines.join("\n")).not.toContain("\\u{d");
  });

  it("cuts many and long headers", () => {
    const lines = answered({
      headers: Array.from({ length: 90 }, (_, n) => [`X-${n}`, "v".repeat(900)]),
      body: textBody(""),
    });
    expect(lines).toHaveLength(26);
    expect(lines.at(-1)).toBe("* 66 more headers");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(202);
  });

  it("shows bytes, and the saved part of a long body", () => {
    expect(answered({ headers: [], body: { kind: "base64", base64: "/wD+", bytes: 3 } })).toEqual([
      "< 200",
      "<",
      "* 3 bytes that are not UTF-8 text",
      "< /wD+",
    ]);
    const cut = { kind: "cut", head: "head", tail: "tail", bytes: 300_000, sha256: "ab" } as const;
    expect(answered({ headers: [], body: cut })).toEqual([
      "< 200",
      "<",
      "< head",
      "* 300000 bytes in all, SHA-256 ab; the last of them:",
      "< tail",
    ]);
  });
});

describe("a delivery as text", () => {
  it("looks like the received message, with its time and the response to it", () => {
    expect(deliveryLines(sampleDelivery("d1"))).toEqual([
      "* request 1 to the address `signed`, from 127.0.0.1, 0.02 s into the run",
      "< POST /f3a9c2/signed",
      "< Content-Type: application/json",
      "< X-Service-Signature: 00ff",
      "<",
      '< {"id":"evt_1","type":"agent.completed"}',
      "* the harness answered 204 after 0.00 s",
    ]);
  });

  it("says how far the target's clock was moved", () => {
    const [first] = deliveryLines(sampleDelivery("d1", { attempt: 3, clockMs: 360_000 }));
    expect(first).toBe(
      "* request 3 to the address `signed`, from 127.0.0.1, 0.02 s into the run, with the target's clock moved by 6 min 0 s",
    );
  });

  it.each<{ reply: DeliveryReply; says: string }>([
    { reply: { kind: "held" }, says: "* the harness had not answered yet" },
    { reply: { kind: "reset" }, says: "* the harness reset the connection on purpose" },
    {
      reply: { kind: "silent", leftMs: 3020 },
      says: "* the harness did not answer, on purpose; the sender gave up after 3.00 s",
    },
    {
      reply: { kind: "endless", status: 200, leftMs: null },
      says: "* the harness answered 200 with a body that does not end, on purpose; the sender kept waiting",
    },
  ])("says what it was answered: $reply.kind", ({ reply, says }) => {
    expect(deliveryLines(sampleDelivery("d1", { reply })).at(-1)).toBe(says);
  });

  it("escapes whatever a sender writes, so that it cannot look like a line of the report", () => {
    const request = {
      method: "POST",
      url: "/\u001b[2Jx",
      headers: [["X-\u202e", "a\nFAIL"]] as const,
      body: textBody("\nFAIL\u001b]0;x\u0007"),
    };
    const lines = deliveryLines(sampleDelivery("d1", { hook: "a\u001bb", peer: "\u009b", request }));
    expect(lines.every((line) => /^[<*]( |$)/.test(line))).toBe(true);
    // oxlint-disable-next-line no-control-regex
    expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});
