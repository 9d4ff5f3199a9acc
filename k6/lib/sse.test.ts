import { describe, expect, it } from "vitest";

import { tryParseJson } from "../../src/base/json.ts";
import { streamShapeOf, tokensOf, tokensOfDone } from "../../src/rules/streams/streams.ts";
import { isCompleteStream, readEvents } from "./sse.ts";

const start = 'event: start\ndata: {"message":"hi"}\n\n';
const chunk = (index?: unknown) =>
  `event: chunk\ndata: ${JSON.stringify({ content: "x", ...(index === undefined ? {} : { index }) })}\n\n`;
const done = 'event: done\ndata: {"message":"bye","usage":{"total_tokens":7},"execution_time":1}\n\n';
const error = 'event: error\ndata: {"error":"no","code":"STREAM_ERROR"}\n\n';

describe("the body of a stream", () => {
  it.each([
    { name: "line feeds", body: "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n" },
    { name: "CRLF", body: "event: a\r\ndata: 1\r\n\r\nevent: b\r\ndata: 2\r\n\r\n" },
    { name: "CR", body: "event: a\rdata: 1\r\revent: b\rdata: 2\r\r" },
    { name: "no blank after the colon", body: "event:a\ndata:1\n\nevent:b\ndata:2\n\n" },
    { name: "a byte-order mark", body: "\uFEFFevent: a\ndata: 1\n\nevent: b\ndata: 2\n\n" },
    {
      name: "comments and other fields",
      body: ": hello\n\nid: 7\nevent: a\ndata: 1\n\n:\n\nretry: 5\nevent: b\ndata: 2\n\n",
    },
    { name: "an event that is cut off", body: "event: a\ndata: 1\n\nevent: b\ndata: 2\n\nevent: c\ndata: 3\n" },
    { name: "blank lines between", body: "\n\nevent: a\ndata: 1\n\n\n\nevent: b\ndata: 2\n\n" },
  ])("is split into events: $name", ({ body }) => {
    expect(readEvents(body)).toStrictEqual([
      { name: "a", data: "1" },
      { name: "b", data: "2" },
    ]);
  });

  it("may have data on several lines", () => {
    expect(readEvents('event: a\ndata: {\ndata: "x":1}\n\n')).toStrictEqual([{ name: "a", data: '{\n"x":1}' }]);
  });
});

describe("a stream", () => {
  it.each([
    { name: "ends with done", body: start + chunk() + chunk() + done, whole: true },
    { name: "ends with error", body: start + chunk() + error, whole: true },
    { name: "fails before a chunk", body: start + error, whole: true },
    { name: "has no start", body: chunk() + done, whole: false },
    { name: "has two starts", body: start + start + done, whole: false },
    { name: "has no end", body: start + chunk(), whole: false },
    { name: "ends twice", body: start + done + done, whole: false },
    { name: "goes on after its end", body: start + done + chunk(), whole: false },
    { name: "is empty", body: "", whole: false },
  ])("that $name is whole: $whole", ({ body, whole }) => {
    expect(isCompleteStream(streamShapeOf(readEvents(body)))).toBe(whole);
  });

  it.each([
    { indexes: [undefined, undefined], are: "absent" },
    { indexes: [], are: "absent" },
    { indexes: [0, 1, 5], are: "rising" },
    { indexes: [1, 2], are: "rising" },
    { indexes: [0, 0], are: "broken" },
    { indexes: [1, 0], are: "broken" },
    { indexes: [0, undefined], are: "broken" },
    { indexes: ["0", "1"], are: "broken" },
  ])("whose chunks have the indexes $indexes has them $are", ({ indexes, are }) => {
    expect(streamShapeOf(readEvents(start + indexes.map((index) => chunk(index)).join("") + done)).indexes).toBe(are);
  });

  it("has its tokens at the end", () => {
    expect(tokensOfDone(readEvents(start + done))).toBe(7);
    expect(tokensOfDone(readEvents(start + error))).toBeNull();
  });
});

describe("an answer", () => {
  it.each([
    { body: '{"usage":{"total_tokens":3}}', tokens: 3 },
    { body: '{"status":"success","data":{"result":{},"metadata":{"tokens_used":4}}}', tokens: 4 },
    { body: '{"usage":{"total_tokens":-1}}', tokens: null },
    { body: '{"usage":{"total_tokens":"3"}}', tokens: null },
    { body: "no JSON", tokens: null },
    { body: null, tokens: null },
  ])("of $body has the tokens $tokens", ({ body, tokens }) => {
    expect(tokensOf(tryParseJson(body ?? ""))).toBe(tokens);
  });
});
