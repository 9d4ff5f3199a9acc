import { describe, expect, it } from "vitest";

import { stream } from "./checks.ts";
import {
  brokenStream,
  chunk,
  done,
  event,
  evidenceOfEvents,
  evidenceOfStreams,
  exchange,
  failure,
  indexed,
  start,
  streamed,
  timedEvidence,
  whole,
} from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";

describe("the sequence of a stream", () => {
  it.each([
    ["SSE-2", "a whole stream", evidenceOfEvents(...whole), "holds"],
    ["SSE-2", "an event without a name", evidenceOfEvents(start, event(null, { content: "x" }), done), "breach"],
    ["SSE-2", "an event of an unknown name", evidenceOfEvents(start, event("ping", {}), done), "breach"],
    ["SSE-2", "no stream", evidenceOfStreams([]), "unproven"],
    ["SSE-3", "a chunk of plain text", evidenceOfEvents(start, event("chunk", "plain text"), done), "breach"],
    ["SSE-3", "a chunk that is a list", evidenceOfEvents(start, event("chunk", ["x"]), done), "breach"],
    ["SSE-4", "a whole stream", evidenceOfEvents(...whole), "holds"],
    ["SSE-4", "a chunk before the start", evidenceOfEvents(chunk("x"), start, done), "breach"],
    ["SSE-4", "two starts", evidenceOfEvents(start, start, done), "breach"],
    ["SSE-4", "a start of another name", evidenceOfEvents(event("begin", {}), chunk("x"), done), "unproven"],
    ["SSE-5", "a whole stream", evidenceOfEvents(...whole), "holds"],
    ["SSE-5", "no end", evidenceOfEvents(start, chunk("x")), "breach"],
    ["SSE-5", "a chunk after the end", evidenceOfEvents(...whole, chunk("x")), "breach"],
    ["SSE-5", "two ends", evidenceOfEvents(...whole, done), "breach"],
    ["SSE-5", "a failure after the end", evidenceOfEvents(...whole, failure()), "breach"],
    [
      "SSE-5",
      "closed by us before its end",
      evidenceOfStreams([streamed([start], { ending: { kind: "closed by us" } })]),
      "unproven",
    ],
    [
      "SSE-5",
      "one that ends, and one that is to fail",
      evidenceOfStreams([streamed(whole), streamed([start], { id: "f1" })], ["f1"]),
      "holds",
    ],
    ["SSE-5", "one that is cut off", evidenceOfStreams([brokenStream(start, chunk("x"))]), "unproven"],
    [
      "SSE-5",
      "one that is cut off, and elsewhere when asked again",
      evidenceOfStreams([brokenStream(start), brokenStream(start, chunk("x"))]),
      "unproven",
    ],
    [
      "SSE-5",
      "one that is cut off, and there again",
      evidenceOfStreams([brokenStream(start), brokenStream(start)]),
      "breach",
    ],
    [
      "SSE-5",
      "one that is cut off there, and once is whole",
      evidenceOfStreams([brokenStream(start), brokenStream(start), streamed(whole)]),
      "holds",
    ],
    ["SSE-5", "two ends, and cut off", evidenceOfStreams([brokenStream(...whole, done)]), "breach"],
    ["SSE-28", "closed after its end", evidenceOfEvents(...whole), "holds"],
    ["SSE-28", "open for seconds after its end", evidenceOfStreams([streamed(whole, { endMs: 9000 })]), "breach"],
    [
      "SSE-28",
      "open after its end until we gave up",
      evidenceOfStreams([streamed(whole, { ending: { kind: "deadline", detail: "silent" } })]),
      "breach",
    ],
  ] as const)("%s: %s", (id, _case, evidence, expected) => {
    expect(judged(stream, id, evidence)).toBe(expected);
  });

  it.each([
    ["all in order", whole, "holds"],
    ["no chunk", [start, done], "breach"],
    ["a chunk before the start", [chunk("x"), start, done], "breach"],
    ["a failure", [start, failure()], "unproven"],
  ])("content between start and end: %s", (_, events, expected) => {
    expect(judged(stream, "SSE-6", timedEvidence(streamed(events)))).toBe(expected);
  });
});

describe("the fields of events", () => {
  it.each([
    ["SSE-7", "a start without a message", evidenceOfEvents(event("start", {}), done), "breach"],
    ["SSE-7", "a start that is text", evidenceOfEvents(event("start", "text"), done), "unproven"],
    ["SSE-8", "no session in a start", evidenceOfEvents(...whole), "absent"],
    [
      "SSE-8",
      "a session in one of two starts",
      evidenceOfStreams([streamed(whole), streamed([event("start", { message: "", session_id: "s" }), done])]),
      "present",
    ],
    [
      "SSE-8",
      "a session that is a number",
      evidenceOfEvents(event("start", { message: "", session_id: 1 }), done),
      "breach",
    ],
    ["SSE-9", "a chunk without content", evidenceOfEvents(start, event("chunk", { text: "x" }), done), "breach"],
    ["SSE-9", "no chunk", evidenceOfEvents(start, failure()), "unproven"],
    [
      "SSE-12",
      "an end without a message",
      evidenceOfEvents(start, event("done", { usage: { total_tokens: 1 } })),
      "breach",
    ],
    [
      "SSE-13",
      "a whole number with a point, and a further count",
      evidenceOfEvents(start, event("done", '{"message":"","usage":{"total_tokens":3.0,"cached":1}}')),
      "holds",
    ],
    [
      "SSE-13",
      "half a token",
      evidenceOfEvents(start, event("done", { message: "", usage: { total_tokens: 1.5 } })),
      "breach",
    ],
    ["SSE-13", "no usage", evidenceOfEvents(start, event("done", { message: "" })), "breach"],
    [
      "SSE-14",
      "a time in text",
      evidenceOfEvents(start, event("done", { message: "", execution_time: "1s" })),
      "breach",
    ],
    ["SSE-14", "a time in seconds", evidenceOfEvents(...whole), "holds"],
  ] as const)("%s: %s", (id, _case, evidence, expected) => {
    expect(judged(stream, id, evidence)).toBe(expected);
  });

  it.each([
    ["SSE-10", "none", [streamed(whole)], "absent"],
    ["SSE-10", "0, 1, 2 and 0", [indexed(0, 1, 2), indexed(0)], "from-0"],
    ["SSE-10", "1, 2", [indexed(1, 2)], "from-1"],
    ["SSE-10", "0, 1 and 1, 2", [indexed(0, 1), indexed(1, 2)], "otherwise"],
    ["SSE-10", "5, 6", [indexed(5, 6)], "otherwise"],
    ["SSE-10", "0 twice", [indexed(0, 0)], "from-0"],
    ["SSE-10", "one chunk without and one with", [streamed([start, chunk("a"), chunk("b", 1), done])], "otherwise"],
    ["SSE-11", "5, 6", [indexed(5, 6)], "breach"],
    ["SSE-11", "0 twice", [indexed(0, 0)], "breach"],
    ["SSE-11", "0, 2, 1", [indexed(0, 2, 1)], "breach"],
    ["SSE-11", "one chunk with and one without", [streamed([start, chunk("a", 0), chunk("b"), done])], "breach"],
    ["SSE-10", "0, 1 and a failure without chunks", [indexed(0, 1), streamed([start, failure()])], "from-0"],
    ["SSE-10", "a failure without chunks", [streamed([start, failure()])], "unproven"],
    [
      "SSE-10",
      "0, 1, and 2, 3 of one that was resumed",
      [
        indexed(0, 1),
        { ...indexed(2, 3), request: exchange({ sent: { parameters: { resume_from_index: 2 } } }).request },
      ],
      "from-0",
    ],
    ["SSE-11", "0, 1, 2", [indexed(0, 1, 2)], "holds"],
    ["SSE-11", "0, 2, 4", [indexed(0, 2, 4)], "breach"],
    ["SSE-11", "none", [streamed(whole)], "unproven"],
  ] as const)("%s of indexes: %s", (id, _case, streams, expected) => {
    expect(judged(stream, id, evidenceOfStreams(streams))).toBe(expected);
  });
});

describe("the fields of an `error` event name the agents at fault", () => {
  const bad = { ...streamed([start, failure({ code: 504 })]), id: "bad" };
  const good = { ...streamed([start, failure()]), id: "good" };
  const { all } = evidenceOfStreams([good, bad]);
  it.each([
    ["failing", { good: "failingInStream", bad: "overloaded" }, "holds"],
    ["overloaded", { good: "failingInStream", bad: "overloaded" }, "breach"],
    ["other agents", { good: "failingInStream", bad: "overloaded" }, "inapplicable"],
    ["failing", { good: "failingInStream" }, "holds"],
    ["other agents", { good: "failingInStream" }, "breach"],
    ["failing", undefined, "breach"],
  ])("%s, with the roles %j", (as, roles, expected) => {
    expect(judged(stream, `SSE-15/${as}`, { all: { ...all, roles } })).toBe(expected);
  });
});
