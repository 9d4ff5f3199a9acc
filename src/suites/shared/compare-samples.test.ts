import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import { describe, expect, it } from "vitest";

import type { Sample } from "../../rules/limits/sample.ts";
import { judgeFalls, judgeResetAfter, observeWhetherErrorsCount } from "../headers/value-sequences.ts";
import { findSerialRuns } from "./compare-samples.ts";

const reset = 1_800_000_060;

const sample = (at: number, remaining: number, more: Partial<Sample> = {}): Sample => ({
  id: `x${at}`,
  kind: "invoke",
  sentMs: at * 10,
  headMs: at * 10 + 5,
  endMs: at * 10 + 6,
  sentClockMs: 0,
  headClockMs: 0,
  endClockMs: 0,
  status: 200,
  ...noRateLimitInfo,
  limit: 10,
  remaining,
  reset,
  resetAfter: 60,
  retryAfterSeconds: null,
  date: null,
  ...more,
});

const shown = (samples: readonly Sample[], isFresh = true) => ({
  keys: [{ key: "free", limits: null, isFresh, samples }],
  keylessMs: [],
  hasClock: false,
  readsCount: false,
  startedUnixMs: 0,
});

const values = (...remaining: readonly number[]) => remaining.map((left, at) => sample(at, left));

describe("Remaining, from one invoke to the next", () => {
  it.each([
    ["once they were answered", 0, "breach"],
    ["while they were under way, perhaps for its slot", 1000, "unproven"],
  ])("is not the whole limit throughout, where the next request is refused %s", (_, longerMs, kind) => {
    const slow = [0, 1, 2].map((at) => sample(at, 10, { endMs: at * 10 + 6 + longerMs }));
    expect(judgeFalls(shown([...slow, sample(3, 10, { status: 429 })])).kind).toBe(kind);
  });

  it("says nothing of a refusal while yet another request holds a slot", () => {
    const held = sample(3, 10, { endMs: 1000 });
    expect(judgeFalls(shown([...values(10, 10, 10), held, sample(4, 10, { status: 429 })])).kind).toBe("unproven");
  });

  it.each([
    { name: "falls by one", samples: values(9, 8, 7, 6), kind: "holds" },
    { name: "falls by one, and a token is refilled meanwhile", samples: values(9, 8, 8, 7), kind: "holds" },
    { name: "stays at the limit while a burst is drawn on", samples: values(10, 10, 10, 9, 8), kind: "holds" },
    { name: "falls by two", samples: values(9, 7, 5), kind: "breach" },
    { name: "stands still", samples: values(9, 9, 9, 9, 9), kind: "breach" },
    { name: "is seen once", samples: values(9), kind: "unproven" },
    {
      name: "speaks of another window in between",
      samples: [sample(0, 9), sample(1, 50, { limit: 100, reset: reset + 900 }), sample(2, 7), sample(3, 6)],
      kind: "holds",
    },
    {
      name: "falls in a bucket whose every request moves the instant at which it is full again",
      samples: [sample(0, 9, { reset: reset - 54 }), sample(1, 8, { reset: reset - 48 })],
      kind: "holds",
    },
    {
      name: "falls by two in such a bucket",
      samples: [sample(0, 9, { reset: reset - 54 }), sample(1, 7, { reset: reset - 42 })],
      kind: "breach",
    },
    {
      name: "falls as the window changes",
      samples: [sample(0, 9), sample(1, 8, { reset: reset + 60 })],
      kind: "unproven",
    },
    {
      name: "falls by two with a health call in between",
      samples: [sample(0, 9), sample(1, 9, { kind: "health" }), sample(2, 7)],
      kind: "unproven",
    },
  ])("$name: $kind", ({ samples, kind }) => {
    expect(judgeFalls(shown(samples)).kind).toBe(kind);
  });

  it("is not compared between requests in flight at once", () => {
    expect(findSerialRuns([sample(0, 9, { endMs: 100 }), sample(1, 8), sample(2, 7)], { keylessMs: [] })).toEqual([]);
  });

  it.each([
    ["none", [], 1],
    ["one without a key", [15], 0],
  ])("is not compared across requests that may have counted: %s", (_, keylessMs, runs) => {
    expect(findSerialRuns([sample(1, 9), sample(2, 8)], { keylessMs })).toHaveLength(runs);
  });

  it("is not compared across a request of a later set that was sent before, and answered in between", () => {
    const later = [sample(0, 8, { endMs: 15 })];
    expect(findSerialRuns([sample(1, 9), sample(2, 7)], { keylessMs: [], later })).toEqual([]);
  });
});

describe("Reset-After", () => {
  const later = (seconds: number, resetAfter: number, more: Partial<Sample> = {}) =>
    sample(seconds * 100, 5, { resetAfter, ...more });
  it.each([
    { name: "falls with time", samples: [later(0, 60), later(20, 40)], kind: "holds" },
    { name: "stays, with one instant of reset", samples: [later(0, 60), later(20, 60)], kind: "breach" },
    {
      name: "moves on with each request of a rolling window",
      samples: [later(0, 60), later(20, 60, { reset: reset + 20 })],
      kind: "unproven",
    },
    {
      name: "was longer than the window took to be whole again",
      samples: [later(0, 60, { remaining: 0 }), later(20, 60, { remaining: 9, reset: reset + 20 })],
      kind: "breach",
    },
  ])("$name: $kind", ({ samples, kind }) => {
    expect(judgeResetAfter(shown(samples)).kind).toBe(kind);
  });
});

describe("errors between two invokes", () => {
  it.each([
    { after: 6, text: "400 counts against the allowance" },
    { after: 8, text: "400 does not count against the allowance" },
  ])("$text", ({ after, text }) => {
    const errors = [1, 2].map((at) => sample(at, 8, { status: 400 }));
    expect(observeWhetherErrorsCount(shown([sample(0, 9), ...errors, sample(3, after)]))).toMatchObject({ text });
  });
});
