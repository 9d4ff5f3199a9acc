import { describe, expect, it } from "vitest";

import type { Header } from "../evidence/exchange.ts";
import { loadSampleSchema } from "../evidence/load-evidence.ts";
import { rateHeaderKeys } from "../spec/headers.ts";
import { sampleOfResponse, type ObservedResponse } from "./load-sample.ts";

const seen = (headers: readonly Header[], other: Partial<ObservedResponse> = {}): ObservedResponse => ({
  flow: "serial",
  key: "main",
  endpoint: "invoke",
  sentMs: 1000.00049,
  headMs: 1001.5,
  endMs: 1002,
  status: 200,
  headers,
  body: null,
  left: false,
  ...other,
});

describe("the sample of a response", () => {
  it("is read from headers in any letter case", () => {
    const sample = sampleOfResponse(
      seen([
        ["x-ratelimit-limit", "10"],
        ["X-RATELIMIT-REMAINING", " 9 "],
        ["X-RateLimit-Reset", "1772600400"],
        ["X-RateLimit-Reset-After", "53.0"],
        ["Date", "Wed, 04 Mar 2026 05:06:07 GMT"],
      ]),
    );
    expect(sample).toEqual(
      expect.objectContaining({ limit: 10, remaining: 9, reset: 1772600400, resetAfter: 53, date: 1772600767 }),
    );
    expect(sample.sentMs).toBe(1000);
  });

  it("keeps decimals of times, and headers that are no numbers", () => {
    const sample = sampleOfResponse(
      seen([
        ["x-ratelimit-remaining", "abc"],
        ["x-ratelimit-reset", "1772600400.5"],
        ["x-ratelimit-reset-after", "53.25"],
      ]),
    );
    expect(sample).toMatchObject({ remaining: null, reset: 1772600400.5, resetAfter: 53.25 });
    expect(sample.malformed).toEqual([{ name: "remaining", actual: expect.stringContaining("abc") as string }]);
    expect(sampleOfResponse(seen([]))).not.toHaveProperty("malformed");
    expect(loadSampleSchema.parse(sample)).toEqual(sample);
  });

  it.each(rateHeaderKeys)("opens a saved sample that lacks %s", (name) => {
    const { [name]: _, ...saved } = sampleOfResponse(seen([]));
    expect(loadSampleSchema.parse(saved)[name]).toBeNull();
  });

  it.each([
    [200, { result: {}, usage: { total_tokens: 12 } }, 12],
    [200, { status: "success", data: { result: {}, metadata: { tokens_used: 5 } } }, 5],
    [200, { result: {} }, null],
    [500, { usage: { total_tokens: 12 } }, null],
  ])("takes the tokens of a success: %i %o", (status, body, expected) => {
    expect(sampleOfResponse(seen([], { status, body: JSON.stringify(body) })).tokens).toBe(expected);
  });

  it("does not mind a body that is no JSON", () => {
    expect(sampleOfResponse(seen([], { status: 429, body: "<html>" })).retryAfterSeconds).toBeNull();
  });
});
