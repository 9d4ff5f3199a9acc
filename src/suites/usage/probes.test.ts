import { describe, expect, it } from "vitest";

import { exchange } from "../testing/evidence.ts";
import { remeasureIfDisturbed, type UsageReads, tokenGrowth } from "./probes.ts";

const report = (used: number) =>
  exchange({
    method: "GET",
    path: "/usage",
    json: {
      period: "2026-03-04T05:06:07Z",
      requests: { used: 1, limit: 100, remaining: 99 },
      tokens: { used, limit: 100_000, remaining: 100_000 - used },
    },
  });
const turn = exchange({ json: { result: {}, usage: { total_tokens: 7 } } });

/** Two reads between which the month's tokens grew by `grown`. The only agent call used seven. */
const grownBy = (tokens: number): UsageReads => ({
  usage: report(50),
  later: report(50 + tokens),
  turns: [turn],
  isFresh: true,
});

describe("what a month's tokens grew by", () => {
  it.each([
    ["is measured once where it is what the turn took", [7, 7], 1, 7],
    ["is measured again where another client used the key in between", [19, 7], 2, 7],
    ["is believed the second time, whatever it is", [14, 14, 7], 2, 14],
    ["is measured once where it is too little: nobody else explains that", [0, 7], 1, 0],
  ])("%s", async (_, growths, times, expected) => {
    const measured: UsageReads[] = growths.map(grownBy);
    const left = [...measured];
    const found = await remeasureIfDisturbed(async () => left.shift() ?? grownBy(0));
    expect(measured.length - left.length).toBe(times);
    expect(found).toBe(measured[times - 1]);
    expect(tokenGrowth(found)?.remaining).toBe(100_000 - 50 - expected);
  });
});
