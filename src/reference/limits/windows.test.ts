import { describe, expect, it } from "vitest";
import { minuteMs } from "../../base/duration.ts";
import { anchoredWindow, fixedWindow, rollingWindow, slidingWindow, tokenBucket, type Limiter } from "./windows.ts";

const size = { window: "minute", limit: 3, windowMs: minuteMs } as const;
const start = 10 * minuteMs + 20_000;

function admit(limiter: Limiter, atMs: number): boolean {
  if (!limiter.hasRoom(atMs)) return false;
  limiter.count(atMs);
  return true;
}

/** Returns how many of `count` requests are admitted, if one is sent every `everyMs`. */
function admitted(limiter: Limiter, fromMs: number, count: number, everyMs: number): number {
  return Array.from({ length: count }, (_, at) => admit(limiter, fromMs + at * everyMs)).filter(Boolean).length;
}

const shapes = [
  { name: "fixed", make: () => fixedWindow(size), resetMs: 11 * minuteMs, afterReset: 3, across: 6 },
  { name: "anchored", make: () => anchoredWindow(size), resetMs: start + minuteMs, afterReset: 3, across: 3 },
  { name: "rolling", make: () => rollingWindow(size), resetMs: start + minuteMs, afterReset: 3, across: 3 },
  { name: "sliding", make: () => slidingWindow(size), resetMs: start + 60_000, afterReset: 1, across: 3 },
  { name: "bucket", make: () => tokenBucket(size), resetMs: start + 20_000, afterReset: 1, across: 5 },
];

describe.each(shapes)("a $name limiter", ({ name, make, resetMs, afterReset, across }) => {
  it("admits as many concurrent requests as its limit, and no more", () => {
    expect(admitted(make(), start, 10, 0)).toBe(3);
  });

  it("reports one request less after each request, down to 0", () => {
    const limiter = make();
    const advertised = Array.from({ length: 4 }, () => {
      admit(limiter, start);
      return limiter.status(start).remaining;
    });
    expect(advertised).toEqual([2, 1, 0, 0]);
  });

  it("has room again at the instant that it reports, and not a millisecond earlier", () => {
    const limiter = make();
    admitted(limiter, start, 3, 0);
    expect(limiter.roomAtMs(start)).toBe(resetMs);
    expect(limiter.hasRoom(resetMs - 1)).toBe(false);
    expect(admitted(limiter, resetMs, 10, 0)).toBe(afterReset);
  });

  it("does not change when it is only queried", () => {
    const limiter = make();
    for (let at = 0; at < 5; at += 1) {
      limiter.hasRoom(start + at);
      limiter.status(start + at);
      limiter.roomAtMs(start + at);
    }
    expect(admitted(limiter, start + minuteMs, 10, 0)).toBe(3);
  });

  it("undoes the count of a request", () => {
    const limiter = make();
    admitted(limiter, start, 3, 0);
    limiter.uncount(start, start + 1);
    expect(admitted(limiter, start + 1, 10, 0)).toBe(1);
  });

  it("admits the right number across the boundary of a minute", () => {
    const limiter = make();
    expect(admitted(limiter, start, 3, 0) + admitted(limiter, start + 40_000, 3, 0)).toBe(across);
  });

  it("admits the right number of ten thousand requests", () => {
    const limiter = make();
    const total = admitted(limiter, start, 10_000, 100);
    // A sliding window only estimates, and refuses more than a log of all requests would.
    expect(total).toBeGreaterThanOrEqual(name === "sliding" ? 2 * 16 : 3 * 16);
    expect(total).toBeLessThanOrEqual(3 * 18);
  });
});

describe("a limiter that reports another limit than it has", () => {
  it("never reports more remaining requests than that limit", () => {
    const limiter = fixedWindow({ ...size, limit: 5, advertisedLimit: 3 });
    const advertised = Array.from({ length: 5 }, () => {
      admit(limiter, start);
      return limiter.status(start);
    });
    expect(advertised.map(({ limit }) => limit)).toEqual([3, 3, 3, 3, 3]);
    expect(advertised.map(({ remaining }) => remaining)).toEqual([3, 3, 2, 1, 0]);
  });
});

describe("a rolling log that counts refusals", () => {
  it("has room only after enough requests have left the window", () => {
    const limiter = rollingWindow(size);
    for (let at = 0; at < 5; at += 1) limiter.count(start + at * 1000);
    expect(limiter.roomAtMs(start + 5000)).toBe(start + 2000 + minuteMs);
    expect(limiter.hasRoom(start + 2000 + minuteMs)).toBe(true);
  });
});
