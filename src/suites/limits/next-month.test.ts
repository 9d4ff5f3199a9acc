import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { suite } from "../../run/judge/check.ts";
import { exchange } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import { nextMonthCheck } from "./next-month.ts";

const limits = suite("Limits", [nextMonthCheck]);
const daySeconds = 86_400;

const usage = (period: string | null): Exchange =>
  exchange({ path: "/usage", json: { period, tokens: { used: 100, limit: 100, remaining: 0 } } });

const refused = (days: number, status = 429, code = "RATE_LIMIT_EXCEEDED"): Exchange =>
  exchange({ status, json: { error: { code, message: "no", status, retry_after: days * daySeconds } } });

const march = usage("2026-03-01T00:00:00Z");
const april = usage("2026-04-01T00:00:00Z");
const leftOver = exchange({ headers: [["X-RateLimit-Remaining", "5"]] });
const spent = {
  readings: [march],
  quota: 100,
  turns: [
    { usedBefore: 90, exchange: exchange() },
    { usedBefore: 100, exchange: refused(12) },
  ],
};
const unspent = { ...spent, turns: [{ usedBefore: 50, exchange: leftOver }] };
const before = { usage: march, invoked: refused(12) };

describe("a key without tokens, in the next month,", () => {
  it.each([
    ["is admitted", { before, after: { usage: april, invoked: exchange() } }, "holds"],
    ["is refused, and `period` moves on", { before, after: { usage: april, invoked: refused(12) } }, "breach"],
    ["is refused, and `retry_after` changes", { before, after: { usage: march, invoked: refused(10) } }, "breach"],
    [
      "is refused, and nothing shows a new month",
      { before, after: { usage: march, invoked: refused(12) } },
      "unproven",
    ],
    [
      "is refused, and `period` stays unknown",
      { before: { ...before, usage: usage(null) }, after: { usage: april, invoked: refused(12) } },
      "unproven",
    ],
    [
      "has expired",
      { before, after: { usage: refused(0, 401, "EXPIRED_API_KEY"), invoked: refused(0, 401, "EXPIRED_API_KEY") } },
      "unproven",
    ],
    [
      "is refused for another reason",
      { before, after: { usage: april, invoked: refused(0, 403, "FORBIDDEN") } },
      "unproven",
    ],
    ["meets a target that fails", { before, after: { usage: april, invoked: exchange({ status: 500 }) } }, "unproven"],
    [
      "was admitted before the clock was advanced",
      { before: { usage: april, invoked: exchange() }, after: null },
      "holds",
    ],
  ])("%s", (_, turned, expected) => {
    expect(judged(limits, "LIM-19/next month", { spent, turned })).toBe(expected);
  });

  it.each([
    [
      "`period` also moves within a month",
      { ...spent, readings: [usage("2026-03-01T05:00:00Z")] },
      { before, after: { usage: april, invoked: refused(12) } },
    ],
    [
      "`period` moves by seconds, with the real time",
      spent,
      { before, after: { usage: usage("2026-03-01T00:00:09Z"), invoked: refused(12) } },
    ],
    [
      "no invoke ever succeeded, and tokens are left",
      { ...spent, quota: 500, turns: [{ usedBefore: 100, exchange: refused(12) }] },
      { before, after: { usage: april, invoked: refused(12) } },
    ],
  ])("is not judged where %s", (_, quota, turned) => {
    expect(judged(limits, "LIM-19/next month", { spent: quota, turned })).toBe("unproven");
  });

  it("is not judged if it never lacked tokens", () => {
    const turned = { before: { usage: march, invoked: exchange() }, after: null };
    expect(judged(limits, "LIM-19/next month", { spent: unspent, turned })).toBe("unproven");
  });
});
