import { describe, expect, it } from "vitest";

import { publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import { describeAcceptedTexts, headerRules, missingHeaders } from "./header-rules.ts";
import { noRateLimitInfo, type RateLimitInfo } from "./rate-limit-info.ts";

const limits = publishedTiers.free;
const all = { limit: 10, remaining: 9, reset: 1_800_000_000, resetAfter: 60 };

it.each<[clause: string, values: Partial<RateLimitInfo>, expected: string | null | undefined]>([
  ["HDR-9", all, null],
  ["HDR-9", {}, undefined],
  ["HDR-9", { ...all, remaining: -1 }, "-1"],
  ["HDR-9", { resetAfter: -2 }, "-2"],
  ["HDR-10", all, null],
  ["HDR-10", { ...all, limit: 100 }, null],
  ["HDR-10", { ...all, limit: 11 }, "11, not 100 or 10"],
  ["HDR-10", { ...all, limit: 20 }, null],
  ["HDR-10", { ...all, limit: 100_000, remaining: 0 }, null],
  ["HDR-10", { ...all, limit: 100_000 }, "100000, not 100 or 10"],
  ["HDR-10", { ...all, limit: null }, undefined],
  ["HDR-11", { ...all, remaining: 10 }, null],
  ["HDR-11", { ...all, remaining: 11 }, "11 of 10"],
  ["HDR-11", { ...all, limit: null }, undefined],
  ["HDR-16", { ...all, resetAfter: 62 }, null],
  ["HDR-16", { ...all, resetAfter: 63 }, "63 s, with a limit of 10"],
  ["HDR-16", { ...all, limit: 100, resetAfter: 3602 }, null],
  ["HDR-16", { ...all, limit: null, resetAfter: 3603 }, "3603 s, with a limit of none"],
  ["HDR-16", { ...all, limit: 20, resetAfter: 63 }, "63 s, with a limit of 20"],
  ["HDR-16", { ...all, remaining: 0, resetAfter: 900_000, retryAfterSeconds: 900_000 }, null],
  ["HDR-16", { ...all, resetAfter: null }, undefined],
])("%s of %o says %o", (clause, values, expected) => {
  const rule = headerRules.find((each) => each.clause === clause);
  expect(rule?.judge({ ...noRateLimitInfo, ...values }, limits)).toBe(expected);
});

it.each<[limit: number, expected: string | null]>([
  [500, null],
  [5000, null],
  [1000, null],
  [25, "25, not 5000 or 500"],
  [5001, "5001, not 5000 or 500"],
])("judges a limit of %d of a tier whose burst is not published", (limit, expected) => {
  const rule = headerRules.find(({ clause }) => clause === "HDR-10");
  expect(rule?.judge({ ...noRateLimitInfo, ...all, limit }, publishedTiers.team)).toBe(expected);
});

it("judges no limit if the tier is not known", () => {
  const rule = headerRules.find(({ clause }) => clause === "HDR-10");
  expect(rule?.judge({ ...noRateLimitInfo, ...all, limit: 11 }, null)).toBeUndefined();
});

describe("a refusal for the month's tokens with another status than 429", () => {
  const ofMonth = { ...all, limit: 40_000, remaining: 0, resetAfter: 900_000 };
  const unknownQuota = { ...limits, tokensPerMonth: null };
  it.each<[clause: string, values: Partial<RateLimitInfo>, of: TierLimits | null, expected: string | null | undefined]>(
    [
      ["HDR-10", ofMonth, unknownQuota, null],
      ["HDR-10", { ...ofMonth, remaining: 1 }, unknownQuota, "40000, not 100 or 10"],
      ["HDR-10", { ...ofMonth, limit: 99 }, unknownQuota, "99, not 100 or 10"],
      ["HDR-10", ofMonth, limits, "40000, not 100 or 10"],
      ["HDR-16", ofMonth, unknownQuota, null],
      ["HDR-16", ofMonth, null, null],
      ["HDR-16", { ...ofMonth, remaining: 1 }, null, "900000 s, with a limit of 40000"],
      ["HDR-16", { ...ofMonth, limit: 5000 }, null, "900000 s, with a limit of 5000"],
      ["HDR-16", ofMonth, limits, "900000 s, with a limit of 40000"],
    ],
  )("%s of %o with the limits %o says %o", (clause, values, of, expected) => {
    const rule = headerRules.find((each) => each.clause === clause);
    expect(rule?.judge({ ...noRateLimitInfo, ...values }, of)).toBe(expected);
  });
});

it("names the missing headers of a response", () => {
  expect(missingHeaders({ ...noRateLimitInfo, ...all, reset: null, resetAfter: null })).toEqual([
    "X-RateLimit-Reset",
    "X-RateLimit-Reset-After",
  ]);
});

it.each([
  [["Window"], "`X-RateLimit-Window` is `hour` or `minute`, sent once"],
  [
    ["Window", "Unit"],
    "`X-RateLimit-Window` is `hour` or `minute`, `X-RateLimit-Unit` is `hour` or `minute`, each sent once",
  ],
])("describes the form of headers with texts: %j", (names, expected) => {
  const value = ["hour", "minute"] as const;
  expect(describeAcceptedTexts(names.map((name) => ({ header: `X-RateLimit-${name}`, value })))).toBe(expected);
});
