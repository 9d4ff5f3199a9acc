import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { createSlowdownDetector } from "./pacer.ts";
import { anExchange } from "../testing/values.ts";

const respondedAfter = (headMs: number): Exchange => {
  const { answer } = anExchange("x1");
  return anExchange("x1", { answer: { ...answer, headMs, endMs: headMs } as Exchange["answer"] });
};
const timedOutAfter = (endMs: number): Exchange =>
  anExchange("x2", { answer: { kind: "unanswered", reason: "silent", detail: "no response head within 15 s", endMs } });

const observed = (...exchanges: readonly Exchange[]) => {
  const detector = createSlowdownDetector();
  for (const each of exchanges) detector.observe(each);
  detector.countUnanswered();
  return { isSlow: detector.isSlow(), unanswered: detector.describeUnanswered() };
};
const times = (ms: number, count: number): Exchange[] => Array.from({ length: count }, () => respondedAfter(ms));

describe("a target that slows down", () => {
  it("is described with figures if a request got no response", () => {
    expect(observed(...times(40, 3), ...times(2100, 3))).toEqual({
      isSlow: true,
      unanswered:
        "the target slowed down: responses took 0.04 s at first and 2.10 s after 6 requests; one request was without a response in time, even when sent again",
    });
  });

  it.each<[name: string, exchanges: readonly Exchange[], isSlow: boolean]>([
    ["that was slow from the start", times(2100, 8), false],
    ["that takes a little longer", [...times(40, 3), ...times(300, 5)], false],
    ["with one late response", [...times(40, 6), respondedAfter(5000)], false],
    ["that has recovered", [...times(40, 3), ...times(2100, 3), ...times(40, 3)], false],
    ["that no longer responds", [...times(40, 3), ...Array.from({ length: 3 }, () => timedOutAfter(15_000))], true],
  ])("tells whether a target is slow: one %s", (_, exchanges, isSlow) => {
    expect(observed(...exchanges).isSlow).toBe(isSlow);
  });
});
