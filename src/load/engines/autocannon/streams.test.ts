import { describe, expect, it } from "vitest";

import { flow, stream } from "../../../../scenarios/traffic.ts";
import type { Ending, Exchange, StreamEvent } from "../../../evidence/exchange.ts";
import { summarizeStream } from "./with-undici.ts";

const event = (name: string, data: unknown, atMs: number): StreamEvent => ({ name, data: JSON.stringify(data), atMs });
const done = event("done", { message: "ok", usage: { total_tokens: 7 }, execution_time: 1 }, 40);

const exchange = (events: readonly StreamEvent[], ending: Ending = { kind: "complete" }): Exchange => ({
  id: "x1",
  key: null,
  request: { method: "POST", url: "http://127.0.0.1/v1", headers: [], body: { kind: "none" } },
  sentMs: 1,
  clockMs: 0,
  answer: { kind: "answered", status: 200, headers: [], headMs: 5, endMs: 50, body: { kind: "none" }, ending, events },
});
const described = (events: readonly StreamEvent[], ending?: Ending, left = false) =>
  summarizeStream(flow("streams", stream, { kind: "at once", requests: 1 }), exchange(events, ending), left);

describe("the summary of a stream", () => {
  it("has its order, its pauses and its end", () => {
    const events = [event("start", {}, 10), event("chunk", { index: 0 }, 12), event("chunk", { index: 1 }, 30), done];
    expect(described(events)).toEqual({
      flow: "streams",
      sentMs: 1,
      status: 200,
      firstEventMs: 10,
      endMs: 50,
      longestGapMs: 18,
      sequence: ["start", "chunk", "done"],
      chunks: 2,
      indexes: "rising",
      ending: "whole",
      totalTokens: 7,
    });
  });

  it.each([
    [[undefined, undefined], "absent"],
    [[0, 1], "rising"],
    [[1, 5], "rising"],
    [[1, 1], "broken"],
    [[0, undefined], "broken"],
    [["0", "1"], "broken"],
  ] as const)("reads the indexes %o as %s", (indexes, expected) => {
    expect(described(indexes.map((index, at) => event("chunk", { index }, at))).indexes).toBe(expected);
  });

  it.each([
    ["whole", { kind: "complete" }, false],
    ["cut", { kind: "broken", detail: "reset" }, false],
    ["left", { kind: "closed by us" }, true],
  ] as const)("ends %s", (expected, ending, left) => {
    expect(described([done], ending, left).ending).toBe(expected);
  });

  it("is empty for a stream without events", () => {
    expect(described([])).toEqual(
      expect.objectContaining({ firstEventMs: null, longestGapMs: null, totalTokens: null }),
    );
  });

  it("keeps events that come in the wrong order, or twice", () => {
    expect(described([done, event("start", {}, 50), done]).sequence).toEqual(["done", "start", "done"]);
  });
});
