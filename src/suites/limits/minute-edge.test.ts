import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { exchange, type ExchangeOptions } from "../testing/evidence.ts";
import { type EdgeOfMinute, judgeEdges } from "./minute-edge.ts";

const response = (
  remaining: number,
  {
    reset = 1_800_000_060,
    limit = 10,
    ...made
  }: ExchangeOptions & { readonly reset?: number; readonly limit?: number },
): Exchange =>
  exchange({
    headers: [
      ["X-RateLimit-Limit", String(limit)],
      ["X-RateLimit-Remaining", String(remaining)],
      ["X-RateLimit-Reset", String(reset)],
      ["X-RateLimit-Reset-After", "50"],
    ],
    ...made,
  });

const refused = (remaining = 0): Exchange => response(remaining, { status: 429 });
const reads = [9, 8, 7, 6, 5, 4, 3, 2, 1].map((left) => response(left, {}));

const edge = (made: Partial<EdgeOfMinute> = {}): EdgeOfMinute => ({
  before: reads,
  atOnce: [response(0, {}), response(0, {})],
  after: refused(),
  ...made,
});

describe("requests at once, with fewer left in the minute", () => {
  it.each<[string, readonly EdgeOfMinute[], string]>([
    ["are all admitted twice", [edge(), edge()], "breach"],
    ["are all admitted once", [edge()], "unproven"],
    ["are all admitted once of two times", [edge(), edge({ atOnce: [response(0, {}), refused()] })], "unproven"],
    [
      "are all admitted in the second and third try",
      [edge({ atOnce: [response(0, {}), refused()] }), edge(), edge()],
      "breach",
    ],
    ["are admitted as far as they are left", [edge({ atOnce: [response(0, {}), refused()] })], "holds"],
    ["are admitted like the one after them", [edge({ after: response(0, {}) })], "unproven"],
    ["are all admitted before one is refused for its slot", [edge({ after: refused(8) })], "unproven"],
    [
      "are all admitted, one of them in the next minute",
      [edge({ atOnce: [response(0, {}), response(9, { reset: 1_800_000_120 })] })],
      "unproven",
    ],
    [
      "are all admitted after a minute ended between the others",
      [edge({ before: [response(5, { reset: 1_800_000_000 }), ...reads] })],
      "unproven",
    ],
    [
      "are all admitted by a bucket that has refilled",
      [edge({ atOnce: [response(0, { sentMs: 8000 }), response(0, { sentMs: 8000 })] })],
      "unproven",
    ],
    [
      "are all admitted twice by a bucket, whose reset moves",
      Array.from({ length: 2 }, () =>
        edge({ before: reads.map((_, at) => response(9 - at, { reset: 1_800_000_006 + 6 * at })) }),
      ),
      "breach",
    ],
    ["report the hour", [edge({ atOnce: [90, 89].map((left) => response(left, { limit: 100 })) })], "unproven"],
    [
      "are not sent, as the hour is reported",
      [edge({ before: [response(90, { limit: 100 })], atOnce: [] })],
      "inapplicable",
    ],
    ["were not sent", [edge({ atOnce: [], after: null })], "unproven"],
    ["were lost", [edge({ atOnce: [exchange({ status: 500 }), exchange({ status: 500 })] })], "unproven"],
  ])("%s", (_, edges, expected) => {
    expect(judgeEdges({ limits: publishedTiers.free, edges }).kind).toBe(expected);
  });

  it("may be admitted by a bucket of another tier, which refills sooner", () => {
    const limits = publishedTiers.pro;
    const limit = limits.perMinute;
    const atOnce = [0, 0].map((left) => response(left, { limit, sentMs: 1700 }));
    const edges = [{ before: [2, 1].map((left) => response(left, { limit })), atOnce, after: refused() }];
    expect(judgeEdges({ limits, edges }).kind).toBe("unproven");
  });

  it("need a test clock", () => {
    expect(judgeEdges(null).kind).toBe("inapplicable");
  });
});
