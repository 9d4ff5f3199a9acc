import { describe, expect, it } from "vitest";

import type { Exchange, Header } from "../../evidence/exchange.ts";
import { trackClockAdvances } from "./proxied-exchange.ts";

const startMs = Date.UTC(2026, 0, 1);

/** An exchange at a time of the proxy, whose headers report another time of the server. */
const exchangeAt = (ms: number, headers: readonly Header[]): Exchange => ({
  id: `x${ms}`,
  key: null,
  request: { method: "GET", url: "http://h/v1/usage", headers: [], body: { kind: "none" } },
  sentMs: ms,
  clockMs: 0,
  answer: {
    kind: "answered",
    status: 200,
    headers,
    headMs: ms + 5,
    endMs: ms + 6,
    body: { kind: "none" },
    ending: { kind: "complete" },
    events: [],
  },
});

const dated = (ms: number): Header[] => [["Date", new Date(startMs + ms).toUTCString()]];
const limited = (ms: number): Header[] => [
  ["X-RateLimit-Reset", String(Math.round((startMs + ms) / 1000) + 50)],
  ["X-RateLimit-Reset-After", "50"],
];

describe("the clock of a server behind the proxy", () => {
  it.each([
    ["its `Date`", dated],
    ["its rate-limit headers, if it sends no `Date`", limited],
  ])("is seen to be advanced by %s", (_, headersAt) => {
    const clock = trackClockAdvances();
    const seen = [
      exchangeAt(1000, headersAt(1000)),
      exchangeAt(2000, headersAt(62_000)),
      exchangeAt(3000, headersAt(63_000)),
    ].map((each) => clock.withClock(each).clockMs);
    expect(seen).toEqual([0, 0, 60_000]);
    expect(clock.count()).toBe(1);
  });

  it.each([
    ["a `Date` that lags", [dated(1000), dated(0), dated(2000)]],
    [
      "a reset in another unit on some responses",
      [
        limited(1000),
        [
          ["X-RateLimit-Reset", "1767225660000"],
          ["X-RateLimit-Reset-After", "50"],
        ],
        limited(3000),
      ],
    ],
    ["responses without either", [[], [], []]],
  ] as [string, Header[][]][])("is not mistaken for a test clock by %s", (_, headers) => {
    const clock = trackClockAdvances();
    const seen = headers.map((each, at) => clock.withClock(exchangeAt(1000 * (at + 1), each)).clockMs);
    expect({ seen, count: clock.count() }).toEqual({ seen: [0, 0, 0], count: 0 });
  });
});
