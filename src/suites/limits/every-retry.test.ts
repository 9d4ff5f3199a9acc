import { describe, expect, it } from "vitest";

import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import type { AllSamples } from "../headers/probes.ts";
import { judgeEveryRetry } from "./every-retry.ts";

let count = 0;

/** A request at a second of the run, which took 10 ms. */
const at = (second: number, change: Partial<Sample> = {}): Sample => ({
  id: `x${(count += 1)}`,
  kind: "invoke",
  sentMs: second * 1000,
  headMs: second * 1000 + 5,
  endMs: second * 1000 + 10,
  status: 200,
  ...noRateLimitInfo,
  limit: 10,
  remaining: 5,
  sentClockMs: 0,
  headClockMs: 0,
  endClockMs: 0,
  ...change,
});

const refused = (second: number, retryAfterSeconds: number, change: Partial<Sample> = {}): Sample =>
  at(second, { status: 429, remaining: 0, retryAfterSeconds, ...change });

const ofFree = (samples: readonly Sample[], change: Partial<AllSamples> = {}): AllSamples => ({
  keys: [{ key: "free", limits: publishedTiers.free, isFresh: true, samples }],
  keylessMs: [],
  hasClock: false,
  startedUnixMs: 0,
  ...change,
});

describe("every refusal of a run", () => {
  it.each<[string, AllSamples, string]>([
    ["is retried in time", ofFree([refused(0, 30), at(33)]), "holds"],
    ["is still in force after its `retry_after`", ofFree([refused(0, 30), refused(33, 900, { limit: 100 })]), "breach"],
    ["is followed by a failure", ofFree([refused(0, 30), at(33, { status: 500 })]), "inapplicable"],
    ["is followed by a lost request", ofFree([refused(0, 30), at(33, { status: null })]), "inapplicable"],
    ["is retried too early", ofFree([refused(0, 30), refused(31, 29)]), "inapplicable"],
    ["is followed by another request", ofFree([refused(0, 30), at(20), refused(33, 27)]), "inapplicable"],
    [
      "is followed by a health request",
      ofFree([refused(0, 30), at(20, { kind: "health" }), refused(33, 27)]),
      "breach",
    ],
    [
      "is followed by one of a similar key",
      ofFree([refused(0, 30), refused(33, 27)], { keylessMs: [9] }),
      "inapplicable",
    ],
    ["is for a slot", ofFree([refused(0, 1, { remaining: 3 }), refused(33, 27)]), "inapplicable"],
    ["is for the month's tokens", ofFree([refused(0, 1, { limit: 100_000 }), refused(33, 27)]), "inapplicable"],
    ["is followed by one for a slot", ofFree([refused(0, 30), refused(33, 1, { remaining: 9 })]), "holds"],
    [
      "comes while another request runs",
      ofFree([at(0, { endMs: 5000 }), refused(1, 1), refused(9, 1)]),
      "inapplicable",
    ],
    [
      "is followed by the clock's move",
      ofFree([refused(0, 30), refused(1, 9, { sentClockMs: 40_000 })], { hasClock: true }),
      "breach",
    ],
  ])("%s", (_, all, expected) => {
    expect(judgeEveryRetry(all).kind).toBe(expected);
  });
});
