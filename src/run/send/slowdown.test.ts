import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { createSlowdownDetector } from "./slowdown.ts";
import { anExchange } from "../testing/evidence.ts";

const answeredAfter = (headMs: number): Exchange => {
  const { answer } = anExchange("x1");
  return anExchange("x1", { answer: { ...answer, headMs, endMs: headMs } as Exchange["answer"] });
};
const silentFor = (endMs: number): Exchange =>
  anExchange("x2", { answer: { kind: "unanswered", reason: "silent", detail: "no response head within 15 s", endMs } });

const told = (...exchanges: readonly Exchange[]) => {
  const slowing = createSlowdownDetector();
  for (const each of exchanges) slowing.observe(each);
  slowing.countUnanswered();
  return { isSlow: slowing.isSlow(), unjudged: slowing.unjudged() };
};
const times = (ms: number, count: number): Exchange[] => Array.from({ length: count }, () => answeredAfter(ms));

describe("a target that slows down", () => {
  it("is told so with its figures, where something stayed unjudged", () => {
    expect(told(...times(40, 3), ...times(2100, 3))).toEqual({
      isSlow: true,
      unjudged:
        "the target slowed down: answers took 0.04 s at first and 2.10 s after 6 requests; one request was not answered in time, and not when sent again",
    });
  });

  it.each<[name: string, exchanges: readonly Exchange[], isSlow: boolean]>([
    ["that is as slow as ever", times(2100, 8), false],
    ["that takes a little longer", [...times(40, 3), ...times(300, 5)], false],
    ["with one late answer", [...times(40, 6), answeredAfter(5000)], false],
    ["that has come to rest again", [...times(40, 3), ...times(2100, 3), ...times(40, 3)], false],
    ["that no longer answers", [...times(40, 3), ...Array.from({ length: 3 }, () => silentFor(15_000))], true],
  ])("is known from one %s", (_, exchanges, isSlow) => {
    expect(told(...exchanges).isSlow).toBe(isSlow);
  });
});
