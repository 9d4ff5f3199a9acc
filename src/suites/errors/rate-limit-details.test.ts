import { expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { rateLimitDetailChecks } from "./rate-limit-details.ts";

const suite = { title: "Errors", checks: rateLimitDetailChecks };
const judged = (name: string, exchanges: readonly Exchange[]): string =>
  judgeBy(suite, `ERR-8/${name}`, { exchanges, validKeys: ["main"] }).kind;

/** A 429 whose headers speak of 10 requests, and whose details have these numbers. */
const refused = (resetAfter: number, details: object): Exchange =>
  exchange({
    key: "main",
    status: 429,
    headers: [
      ["Content-Type", "application/json"],
      ["X-RateLimit-Limit", "10"],
      ["X-RateLimit-Remaining", "0"],
      ["X-RateLimit-Reset-After", String(resetAfter)],
    ],
    json: { status: "error", error: { code: "RATE_LIMITED", message: "Wait.", details } },
  });
const waits = (...pairs: readonly (readonly [number, number])[]): Exchange[] =>
  pairs.map(([resetAfter, wait]) => refused(resetAfter, { retry_after: wait }));
const counts = (limit: number, ...remaining: readonly number[]): Exchange[] =>
  remaining.map((each) => refused(40, { limit, remaining: each, retry_after: 40 }));

it.each<[string, Exchange[], string]>([
  ["is the time until the reset", waits([40, 40], [30, 30], [20, 20]), "holds"],
  ["is much longer than needed", waits([40, 600], [30, 600], [20, 600]), "holds"],
  ["is in milliseconds", waits([40, 40_000], [30, 30_000], [20, 20_000]), "breach"],
  ["is once the same number as milliseconds", waits([40, 40_000], [40, 40_000], [40, 40_000]), "holds"],
  ["is not there", [], "inapplicable"],
])("`retry_after` that %s", (_, exchanges, expected) => {
  expect(judged("unit of retry_after", exchanges)).toBe(expected);
});

it.each<[string, Exchange[], string]>([
  ["is that of the headers", counts(10, 0, 0, 0), "holds"],
  ["differs at times, as requests are concurrent", counts(10, 1, 0, 1), "holds"],
  ["always differs", counts(10, 1, 1, 1), "breach"],
  ["is of another window", counts(100, 1, 1, 1), "inapplicable"],
])("`remaining` in the details that %s", (_, exchanges, expected) => {
  expect(judged("remaining as in the headers", exchanges)).toBe(expected);
});
