import { describe, expect, it } from "vitest";

import { publishedTiers } from "../../spec/tiers.ts";
import type { RequestSample } from "./sample.ts";
import { noRateLimitInfo } from "./rate-limit-info.ts";
import { judgeTimeLeft, groupByWindow } from "./reset-headers.ts";

const reset = 1_800_000_060;
const answer = (atSeconds: number, values: Partial<RequestSample> = {}): RequestSample => {
  const times = { sentMs: atSeconds * 1000, headMs: atSeconds * 1000, endMs: atSeconds * 1000 };
  return {
    id: `x${atSeconds}`,
    kind: "invoke",
    status: 200,
    ...times,
    ...noRateLimitInfo,
    limit: 10,
    reset,
    ...values,
  };
};
const judged = (...answers: readonly RequestSample[]): string[] =>
  judgeTimeLeft(answers, publishedTiers.free, (from, to) => (to.sentMs - from.headMs) / 1000).map(({ mismatch }) =>
    mismatch === null ? "falls" : mismatch.actual,
  );

it("puts answers of one limit and one reset together, and leaves out those that let nobody in", () => {
  const [first, other, second, otherKey] = [
    answer(0),
    answer(1, { limit: 100 }),
    answer(2),
    answer(3, { status: 401 }),
  ];
  expect(groupByWindow([first, other, second, otherKey])).toEqual([[first, second], [other]]);
});

describe("the time left", () => {
  it.each<[name: string, answers: readonly RequestSample[], expected: readonly string[]]>([
    ["falls", [answer(0, { resetAfter: 60 }), answer(10, { resetAfter: 50 })], ["falls"]],
    ["is rounded", [answer(0, { resetAfter: 60 }), answer(10, { resetAfter: 52 })], ["falls"]],
    ["stands still", [answer(0, { resetAfter: 60 }), answer(10, { resetAfter: 60 })], ["60, 10 s later"]],
    ["is not known for long enough", [answer(0, { resetAfter: 60 }), answer(2, { resetAfter: 60 })], []],
    ["is over", [answer(0, { resetAfter: 5 }), answer(10, { resetAfter: 5 })], []],
    ["is longer than the window", [answer(0, { resetAfter: 99 }), answer(10, { resetAfter: 99 })], []],
    ["is told once", [answer(0, { resetAfter: 60 }), answer(10)], []],
    ["is of a delta", [answer(0, { resetAfter: 60, reset: 60 }), answer(10, { resetAfter: 60, reset: 60 })], []],
  ])("%s", (_, answers, expected) => {
    expect(judged(...answers)).toEqual(expected);
  });
});
