import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { hostileText } from "../testing/hostile.ts";
import { sampleExchange, sampleReport, textBody } from "../testing/sample.ts";
import { harChunks, renderHar } from "./har.ts";
import { parseHar, type HarEntry } from "./testing/read-formats.ts";
import { sampleReportsByKind } from "./testing/sample-reports-by-kind.ts";

const { report } = sampleReportsByKind.broken;

const archive = (exchanges: readonly Exchange[]): readonly HarEntry[] =>
  parseHar(renderHar({ report, evidence: { exchanges } }));

const entryOf = (exchange: Exchange): HarEntry | undefined => archive([exchange])[0];

describe("HAR", () => {
  it("has an entry for each exchange, with its times", () => {
    const [first, second] = archive([sampleExchange("x1"), sampleExchange("x2")]);
    expect(first).toMatchObject({
      startedDateTime: "2030-01-01T00:00:00.010Z",
      time: 3.5,
      timings: { send: 0, wait: 2, receive: 1.5 },
      request: { method: "POST", postData: { mimeType: "application/json", text: '{"query":"hello"}' } },
      response: { status: 200, content: { mimeType: "application/json", text: '{"result":{}}', size: 13 } },
      comment: "x1",
    });
    expect(second).toMatchObject({ comment: "x2" });
  });

  it("is generated exchange by exchange", () => {
    const exchanges = ["x1", "x2", "x3"].map((id) => sampleExchange(id, { body: textBody("m".repeat(1000)) }));
    const pieces = [...harChunks({ report, evidence: { exchanges } })];
    expect(pieces.every((piece) => piece.length < 3000)).toBe(true);
    expect(archive([])).toEqual([]);
  });

  it.each<[string, Exchange, unknown]>([
    [
      "no answer",
      sampleExchange("x", {}, { kind: "unanswered", reason: "silent", detail: "10 s", endMs: 20 }),
      { response: { status: 0, _error: "silent: 10 s" } },
    ],
    [
      "bytes that are no text",
      sampleExchange("x", {}, { body: { kind: "base64", base64: "AP8=", bytes: 2 } }),
      { response: { content: { text: "AP8=", encoding: "base64", size: 2 } } },
    ],
    [
      "a long body",
      sampleExchange("x", {}, { body: { kind: "cut", head: "a", tail: "b", bytes: 9, sha256: "00" } }),
      { response: { content: { text: "a", comment: expect.stringContaining("9 bytes"), size: 9 } } },
    ],
    [
      "a redirect",
      sampleExchange("x", {}, { status: 302, headers: [["Location", "/v2"]] }),
      { response: { redirectURL: "/v2" } },
    ],
    [
      "a query",
      sampleExchange("x", { method: "GET", url: "http://h/?a=1&b&c=%20d%&e=f+g#h", body: textBody("") }),
      {
        request: {
          queryString: [
            { name: "a", value: "1" },
            { name: "b", value: "" },
            { name: "c", value: "%20d%" },
            { name: "e", value: "f g" },
          ],
          bodySize: 0,
        },
      },
    ],
    [
      "a broken answer",
      sampleExchange("x", {}, { ending: { kind: "broken", detail: "reset" } }),
      { response: { comment: "broken: reset" } },
    ],
  ])("keeps %s", (_, exchange, expected) => {
    expect(entryOf(exchange)).toMatchObject(expected as object);
  });

  it("keeps every character of a body, and matches the schema with any address and header name", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const body = textBody(text);
        const exchange = sampleExchange(
          "x",
          { url: text, headers: [[text, text]], body },
          { body, headers: [[text, text]] },
        );
        expect(entryOf(exchange)?.response.content["text"] ?? "").toBe(text);
      }),
    );
  });

  it("names the target, but not its keys", () => {
    expect(renderHar({ report: sampleReport([]), evidence: { exchanges: [sampleExchange("x1")] } })).toContain(
      "Bearer [redacted key]",
    );
  });
});
