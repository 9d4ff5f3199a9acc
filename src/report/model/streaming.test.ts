import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { streamingOf } from "./streaming.ts";

/** A stream of an agent whose chunks arrive at these times, in milliseconds since the request. */
function stream(
  agent: string,
  chunksMs: readonly number[],
  { usage = {}, body = {}, end = "done" }: { usage?: object; body?: object; end?: string } = {},
): Exchange {
  const events = [
    { name: "start", data: '{"message":"hi"}', atMs: 1001 },
    ...chunksMs.map((ms) => ({ name: "chunk", data: '{"content":"five!"}', atMs: 1000 + ms })),
    { name: end, data: JSON.stringify({ usage }), atMs: 1000 + (chunksMs.at(-1) ?? 0) + 1 },
  ];
  const endMs = 1002 + (chunksMs.at(-1) ?? 0);
  const none = { kind: "none" } as const;
  return {
    id: "x1",
    key: "pro",
    request: {
      method: "POST",
      url: `https://acme.example/v1/agents/${agent}/stream`,
      headers: [],
      body: { kind: "text", text: JSON.stringify(body), bytes: 2 },
    },
    sentMs: 1000,
    clockMs: 0,
    answer: {
      kind: "answered",
      status: 200,
      headers: [],
      headMs: 1001,
      endMs,
      body: none,
      ending: { kind: "complete" },
      events,
    },
  };
}

describe("streaming quality", () => {
  it("is measured by agent: first content, gaps, and tokens a second", () => {
    const usage = { completion_tokens: 40 };
    const found = streamingOf([
      stream("writer", [100, 200, 300, 500], { usage }),
      stream("writer", [50, 150, 250, 450], { usage }),
      stream("echo", [10]),
    ]);
    expect(found).toEqual([
      {
        agent: "writer",
        streams: 2,
        firstContentMs: { p50: 75, p99: 99.5, max: 100 },
        gapMs: { p50: 100, p99: 200, max: 200 },
        perSecond: { unit: "tokens", median: 100 },
        lumps: 0,
      },
      expect.objectContaining({ agent: "echo", streams: 1, gapMs: null, perSecond: null }),
    ]);
  });

  it("is in characters, named so, if a stream shows no tokens", () => {
    const [found] = streamingOf([stream("writer", [100, 200], { usage: { total_tokens: 9 } })]);
    expect(found?.perSecond).toEqual({ unit: "characters", median: 100 });
  });

  it("counts streams whose chunks all come at once, at the end", () => {
    const [found] = streamingOf([stream("lump", [900, 901, 901, 902, 903]), stream("lump", [100, 300, 500, 700, 900])]);
    expect(found).toMatchObject({ streams: 2, lumps: 1 });
  });

  it.each([
    ["that fails", stream("writer", [100], { end: "error" })],
    [
      "that was asked for at a certain pace",
      stream("writer", [100], { body: { parameters: { stream_delay_ms: 50 } } }),
    ],
    ["that is resumed", stream("writer", [100], { body: { parameters: { resume_from_index: 2 } } })],
    ["without content", stream("writer", [])],
  ])("leaves out a stream %s", (_, exchange) => {
    expect(streamingOf([exchange])).toEqual([]);
  });
});
