import { describe, expect, it } from "vitest";

import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { judgeHealthOfOtherProbes, judgeStreamsOfOtherProbes, consecutivePairs } from "./passive-counting.ts";

type Kind = Sample["kind"];

/** Consecutive requests, each with its `Remaining`. */
const sent = (...all: readonly (readonly [Kind, number])[]): Sample[] =>
  all.map(([kind, remaining], at) => ({
    id: `x${at}`,
    kind,
    sentMs: at * 100,
    headMs: at * 100 + 10,
    endMs: at * 100 + 20,
    status: 200,
    ...noRateLimitInfo,
    limit: 10,
    remaining,
    reset: 1_800_000_000,
    resetAfter: 50,
    sentClockMs: 0,
    headClockMs: 0,
    endClockMs: 0,
  }));

const fiveEvents = (samples: readonly Sample[]) => new Map(samples.map(({ id }) => [id, 5]));
const evidence = (samples: readonly Sample[], keylessMs: readonly number[] = []) => ({
  neighbours: consecutivePairs(samples, { eventsOf: fiveEvents(samples), keylessMs }),
});

const plain = [
  ["invoke", 9],
  ["invoke", 8],
] as const;

describe("a stream among the requests of a small key", () => {
  it.each([
    [
      "that is counted once",
      [
        ["stream", 7],
        ["invoke", 6],
      ],
      "holds",
    ],
    [
      "that is counted at its end, twice",
      [
        ["stream", 8],
        ["invoke", 6],
        ["stream", 6],
        ["invoke", 4],
      ],
      "holds",
    ],
    [
      "whose chunks are counted, twice",
      [
        ["stream", 7],
        ["invoke", 3],
        ["stream", 2],
        ["invoke", 0],
      ],
      "breach",
    ],
    [
      "after which more is gone once",
      [
        ["stream", 7],
        ["invoke", 3],
      ],
      "unproven",
    ],
    [
      "that is not counted",
      [
        ["stream", 8],
        ["invoke", 7],
      ],
      "unproven",
    ],
  ] as const)("%s comes to %s as %s", (_, streams, kind) => {
    expect(judgeStreamsOfOtherProbes(evidence(sent(...plain, ...streams))).kind).toBe(kind);
  });

  it("tells nothing where `Remaining` does not fall by one with an invoke", () => {
    const samples = sent(["invoke", 9], ["invoke", 7], ["stream", 5], ["invoke", 3]);
    expect(judgeStreamsOfOtherProbes(evidence(samples)).kind).toBe("unproven");
  });

  it("tells nothing beside requests without the key", () => {
    const samples = sent(...plain, ["stream", 7], ["invoke", 3], ["stream", 2], ["invoke", 0]);
    const keyless = samples.slice(2).map(({ endMs }) => endMs + 1);
    expect(judgeStreamsOfOtherProbes(evidence(samples, keyless)).kind).toBe("unproven");
  });
});

describe("health among the requests of a small key", () => {
  const health = (remaining: number) => ["health", remaining] as const;
  it.each([
    ["that is not counted", [health(8), health(8), ["invoke", 7]], "holds"],
    ["that is counted, twice", [health(7), health(6), ["invoke", 5], health(4), health(3), ["invoke", 2]], "breach"],
    ["that is counted once", [health(7), health(6), ["invoke", 5]], "unproven"],
    ["that was read once", [health(8), ["invoke", 7]], "unproven"],
  ] as const)("%s comes to %s as %s", (_, reports, kind) => {
    expect(judgeHealthOfOtherProbes(evidence(sent(...plain, ...reports))).kind).toBe(kind);
  });

  it("is watched by itself where the key has requests enough", () => {
    expect(judgeHealthOfOtherProbes({ neighbours: null }).kind).toBe("inapplicable");
    expect(judgeStreamsOfOtherProbes({ neighbours: null }).kind).toBe("inapplicable");
  });
});
