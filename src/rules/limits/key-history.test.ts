import { describe, expect, it } from "vitest";

import { publishedTiers } from "../../spec/tiers.ts";
import type { LimitBreach } from "./admission/breach.ts";
import { decisionOf, type DecisionOutcome, type History } from "./admission/history.ts";
import {
  judgeByClocks,
  maxInClosedWindow,
  noAdmissionAfterLastRefusal,
  breachSide,
  isWellBefore,
} from "./key-history.ts";

const limits = publishedTiers.free;

const history = (outcomes: readonly DecisionOutcome[], everyMs: number): History => ({
  priorUse: "nothing",
  decisions: outcomes.map((outcome, index) => {
    const sentMs = index * everyMs;
    return decisionOf({ id: `x${index}`, sentMs, answeredMs: sentMs + 1, endedMs: sentMs + 1, outcome });
  }),
});

it("reports a breach only if it is one by every clock that the target may keep", () => {
  const flood = Array.from({ length: 60 }, (): DecisionOutcome => "admitted");
  const [over, kept] = [history(flood, 100), history(flood, 60_000)];
  expect(judgeByClocks([over], limits, {}, false).kind).toBe("breach");
  expect(judgeByClocks([over, kept], limits, {}, false).kind).toBe("explained");
  expect(judgeByClocks([over, over], limits, {}, false).kind).toBe("breach");
});

it("counts the most instants that certainly fell within a span", () => {
  const instants = [0, 10, 20, 35].map((ms) => ({ fromMs: ms, toMs: ms + 5, count: 1 }));
  expect(maxInClosedWindow(instants, 25)).toBe(3);
  expect(maxInClosedWindow(instants, 24)).toBe(2);
  expect(maxInClosedWindow([], 60_000)).toBe(0);
  const overlapping = [
    { fromMs: 9, toMs: 9.5, count: 1 },
    { fromMs: 0, toMs: 10, count: 1 },
  ];
  expect(maxInClosedWindow(overlapping, 5)).toBe(1);
  expect(maxInClosedWindow(overlapping, 10)).toBe(2);
});

describe("the side of a breach", () => {
  const decided = (breach: LimitBreach["breach"]): LimitBreach => ({
    kind: "breach",
    breach,
    limit: "minute",
    expected: "",
    actual: "",
    witness: [],
  });
  it.each([
    ["too many admitted", false, "over"],
    ["refused below limit", true, "under"],
    ["inconsistent", true, "over"],
    ["inconsistent", false, "under"],
  ] as const)("%s, beyond what is published: %s", (breach, isBeyond, side) => {
    expect(breachSide(decided(breach), () => isBeyond)).toBe(side);
  });
});

it("takes the month's tokens for used up only where nothing was admitted after the last refusal", () => {
  const at = (sentMs: number, status: number) => ({ sentMs, status });
  expect(noAdmissionAfterLastRefusal([at(0, 200), at(1, 429)], [at(0, 200)])).toBe(true);
  expect(noAdmissionAfterLastRefusal([at(0, 429), at(1, 200)], [at(1, 200)])).toBe(false);
  expect(noAdmissionAfterLastRefusal([at(0, 200)], [])).toBe(false);
});

it.each([
  [40, 42, true],
  [41, 42, false],
])("%i s after a refusal that told %i s is well before: %s", (passed, side, isEarly) => {
  expect(isWellBefore(passed, side)).toBe(isEarly);
});
