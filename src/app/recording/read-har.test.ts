import { brotliCompressSync, gzipSync } from "node:zlib";

import { describe, expect, it } from "vitest";

import { anEntry, archive, type EntryChanges } from "./testing/archive.ts";
import { readHar } from "./read-har.ts";

const read = (changes: EntryChanges, creator?: string) => readHar(archive([anEntry(changes)], creator));
const text = '{"result":{"output":"é"}}';
const bytes = Buffer.from(text);
const json = ["Content-Type", "application/json"] as const;

describe("an entry of an HTTP archive", () => {
  it.each<[string, EntryChanges, string]>([
    ["a preflight request", { method: "OPTIONS" }, "options"],
    ["a cached response", { status: 304 }, "cache"],
    ["a response from the disk", { entry: { _fromCache: "disk" } }, "cache"],
    ["a response of a shared cache", { headers: [["age", "12"]] }, "cache"],
    ["an aborted request of Chromium", { status: 0, headers: [] }, "unanswered"],
    ["an aborted request of Playwright", { status: -1, headers: [] }, "unanswered"],
    [
      "the page of a gateway",
      { status: 502, headers: [["Content-Type", "text/html"]], content: { text: "<h1>" } },
      "gateway",
    ],
    ["a refusal of a proxy", { status: 407 }, "gateway"],
    ["a URL that cannot be parsed", { url: "http://[/v1/usage" }, "unreadable"],
  ])("is left out: %s", (_, changes, reason) => {
    const { exchanges, leftOut } = read(changes);
    expect({ exchanges, leftOut: [...leftOut] }).toEqual({ exchanges: [], leftOut: [[reason, 1]] });
  });

  it.each<[string, NonNullable<EntryChanges["content"]>, NonNullable<EntryChanges["headers"]>]>([
    ["as text", { text, size: bytes.length }, [json]],
    ["in base64", { text: bytes.toString("base64"), encoding: "base64" }, [json]],
    ["decompressed, with its header", { text }, [json, ["content-encoding", "gzip"], ["content-length", "9"]]],
    [
      "compressed",
      { text: gzipSync(bytes).toString("base64"), encoding: "base64" },
      [json, ["Content-Encoding", "gzip"]],
    ],
    [
      "in Brotli",
      { text: brotliCompressSync(bytes).toString("base64"), encoding: "base64" },
      [json, ["Content-Encoding", "br"]],
    ],
  ])("has a body %s", (_, content, headers) => {
    const [found] = read({ content, headers }).exchanges;
    expect(found).toMatchObject({
      gaps: [],
      exchange: { answer: { body: { kind: "text", text }, ending: { kind: "complete" } } },
    });
  });

  it.each<[string, string, NonNullable<EntryChanges["content"]>, NonNullable<EntryChanges["headers"]>]>([
    ["without a body", "no body", {}, [json]],
    ["with an empty text of unknown length", "no body", { text: "" }, [json]],
    ["with less text than its size", "cut body", { text: text.slice(0, 9), size: bytes.length }, [json]],
    ["with less text than its length", "cut body", { text: text.slice(0, 9) }, [json, ["content-length", "27"]]],
    ["with JSON that stops before its end", "cut body", { text: text.slice(0, 9) }, [json]],
    ["with compressed bytes as text", "cut body", { text: "\u001f\ufffd\u0008" }, [json, ["content-encoding", "gzip"]]],
  ])("keeps its head and names the gap: %s", (_, gap, content, headers) => {
    const [found] = read({ content, headers }).exchanges;
    expect(found?.gaps).toContain(gap);
    expect(found?.exchange.answer).toMatchObject({ status: 200, body: { kind: "cut" } });
  });

  it("keeps JSON that the server itself cut off: its length is that of the header", () => {
    const cut = text.slice(0, 9);
    const [found] = read({ content: { text: cut }, headers: [json, ["Content-Length", "9"]] }).exchanges;
    expect(found).toMatchObject({ gaps: [], exchange: { answer: { body: { kind: "text", text: cut } } } });
  });

  it.each([
    ["ends with `done`", "event: start\ndata: {}\n\nevent: done\ndata: {}\n\n", "complete", []],
    ["stops before that", "event: start\ndata: {}\n\nevent: chunk\nda", "closed by us", ["no end"]],
  ])("has a stream that %s", (_, stream, ending, gaps) => {
    const [found] = read({ content: { text: stream }, headers: [["content-type", "text/event-stream"]] }).exchanges;
    expect(found).toMatchObject({ gaps, exchange: { answer: { ending: { kind: ending } } } });
  });

  it("drops pseudo-headers of HTTP/2, and splits values that Chromium joins", () => {
    const headers = [
      [":status", "200"],
      ["x-ratelimit-limit", "10\n11"],
    ] as const;
    const [found] = read({ headers }).exchanges;
    expect(found?.exchange.answer).toMatchObject({
      headers: [
        ["x-ratelimit-limit", "10"],
        ["x-ratelimit-limit", "11"],
      ],
    });
  });

  it.each<[string, NonNullable<EntryChanges["entry"]>]>([
    ["a start", { startedDateTime: "" }],
    ["a duration", { time: -1 }],
  ])("without %s shows no times", (_, entry) => {
    const { exchanges, facts } = read({ entry });
    expect(facts.times).toBe(false);
    expect(exchanges[0]).toMatchObject({ gaps: ["no times"], exchange: { sentMs: 0 } });
  });

  it("of a browser began as late as its `Date` says, because the browser may have held the request back", () => {
    const dated = (date: string) => anEntry({ headers: [["Date", date]] });
    const entries = [dated("Thu, 01 Jan 2026 00:00:00 GMT"), dated("Thu, 01 Jan 2026 00:00:40 GMT")];
    const heads = readHar(archive(entries, "Playwright")).exchanges.map(({ exchange: { answer, sentMs } }) =>
      answer.kind === "answered" ? answer.headMs - sentMs : null,
    );
    expect(heads).toEqual([30, 40_030]);
  });
});
