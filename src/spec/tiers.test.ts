import { expect, it } from "vitest";

import { publishedTierNames, publishedTiers } from "./tiers.ts";

const tiers = publishedTierNames.map((name) => publishedTiers[name]);

it.each(publishedTierNames)("the burst of %s is its limit per minute, or not published", (name) => {
  const { perMinute, burst } = publishedTiers[name];
  expect([perMinute, null]).toContain(burst);
});

it.each(["perHour", "perMinute"] as const)("no two tiers have the same %s", (window) => {
  expect(new Set(tiers.map((tier) => tier[window])).size).toBe(tiers.length);
});

it("only 100 is an hour's limit and a minute's: of free and of pro", () => {
  const minutes: readonly number[] = tiers.map(({ perMinute }) => perMinute);
  const { free, pro } = publishedTiers;
  expect(tiers.map(({ perHour }) => perHour).filter((limit) => minutes.includes(limit))).toEqual([free.perHour]);
  expect(pro.perMinute).toBe(free.perHour);
});
