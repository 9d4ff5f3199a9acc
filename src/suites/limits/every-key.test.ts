import { describe, expect, it } from "vitest";

import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import type { AllSamples } from "../headers/probes.ts";
import { judgeEveryKeyCounted } from "./every-key.ts";

/** Usage reads of a key in one window, one every 10 ms, with these values of `Remaining`. */
const reads = (values: readonly number[], limit = 100, change: Partial<Sample> = {}): Sample[] =>
  values.map((remaining, at) => ({
    id: `x${at}`,
    kind: "usage",
    sentMs: at * 10,
    headMs: at * 10 + 4,
    endMs: at * 10 + 5,
    status: 200,
    ...noRateLimitInfo,
    limit,
    remaining,
    reset: 1_800_000_000,
    resetAfter: 50,
    sentClockMs: 0,
    headClockMs: 0,
    endClockMs: 0,
    ...change,
  }));

const of = (reader: readonly Sample[], full: readonly Sample[], change: Partial<AllSamples> = {}): AllSamples => ({
  keys: [
    { key: "pro", limits: publishedTiers.pro, isFresh: true, samples: full },
    { key: "reader", limits: publishedTiers.pro, isFresh: true, samples: reader },
  ],
  keylessMs: [],
  hasClock: false,
  countedRead: "usage",
  startedUnixMs: 0,
  ...change,
});

const falling = reads([99, 98, 97, 96]);
const still = reads([100, 100, 100, 100, 100]);

describe("the requests of a restricted key", () => {
  it.each<[string, AllSamples, string]>([
    ["are counted", of(reads([99, 98, 97, 96, 95]), falling), "holds"],
    ["are not counted", of(still, falling), "breach"],
    ["are counted later", of([...still, ...reads([99], 100, { sentMs: 90_000 })], falling), "holds"],
    ["are too few", of(still.slice(0, 3), falling), "holds"],
    ["are not counted, as those of other keys at first", of(still, reads([100, 100, 100, 99])), "inapplicable"],
    ["are not counted, but other keys have another limit", of(still, reads([9, 8, 7, 6], 10)), "holds"],
    ["come with those of an unknown key", of(still, falling, { keylessMs: [5, 15, 25, 35] }), "inapplicable"],
    ["are of a kind that may not count", of(still, falling, { countedRead: null }), "inapplicable"],
  ])("%s", (_, all, expected) => {
    expect(judgeEveryKeyCounted(all).kind).toBe(expected);
  });
});
