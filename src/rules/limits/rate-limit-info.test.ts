import { describe, expect, it } from "vitest";

import { parseRateLimitInfo, noRateLimitInfo, readRateLimitInfo } from "./rate-limit-info.ts";

type Headers = readonly (readonly [name: string, value: string])[];
const read = (headers: Headers, status = 200, json?: unknown) => readRateLimitInfo(status, headers, () => json);

describe("what a limiter showed", () => {
  it("reads headers in any letter case", () => {
    const headers: Headers = [
      ["x-ratelimit-limit", "10"],
      ["X-RATELIMIT-REMAINING", " 9 "],
      ["X-Ratelimit-Reset", "1772600400"],
      ["X-RateLimit-Reset-After", "53.0"],
      ["Date", "Wed, 04 Mar 2026 05:06:07 GMT"],
    ];
    const values = { limit: 10, remaining: 9, reset: 1_772_600_400, resetAfter: 53, date: 1_772_600_767 };
    expect(read(headers)).toEqual({ ...values, retryAfterSeconds: null });
  });

  it.each<[name: string, values: readonly string[], limit: number | null]>([
    ["absent", [], null],
    ["no number", ["ten"], null],
    ["a fraction", ["9.5"], null],
    ["two values", ["10", "11"], null],
    ["one value twice", ["10", " 10"], 10],
    ["negative, which is a finding", ["-1"], -1],
  ])("has a limit where the header is %s", (_, values, limit) => {
    expect(read(values.map((value) => ["X-RateLimit-Limit", value])).limit).toBe(limit);
  });

  it.each([
    [429, { error: { code: "RATE_LIMITED", retry_after: 7 } }, 7],
    [429, { status: "error", error: { details: { retry_after: 8 } } }, 8],
    [429, { error: {} }, null],
    [429, { error: { retry_after: "7" } }, null],
    [429, undefined, null],
    [200, { error: { retry_after: 7 } }, null],
  ])("has `retry_after` of a 429 in either form: %i %o", (status, json, seconds) => {
    expect(read([], status, json).retryAfterSeconds).toBe(seconds);
  });

  it("has no date if the header is invalid", () => {
    expect(read([["Date", "soon"]]).date).toBeNull();
  });
});

describe("what was kept of it", () => {
  it("accepts evidence of a version without some of the values", () => {
    expect(parseRateLimitInfo({ limit: 10, remaining: null })).toEqual({ ...noRateLimitInfo, limit: 10 });
    expect(parseRateLimitInfo({ remaining: 0 })?.remaining).toBe(0);
  });

  it.each([{ limit: "10" }, { date: Number.NaN }])("rejects evidence with a value that is no number: %o", (kept) => {
    expect(parseRateLimitInfo(kept)).toBeNull();
  });
});
