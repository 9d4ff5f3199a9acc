import { expect, it } from "vitest";

import { coverageSeedOfNight } from "./bounds.ts";

it("a night has the seed of its day, which is another one than the day before", () => {
  const seeds = ["2030-02-05T02:00:00Z", "2030-02-05T23:59:59Z", "2030-02-06T00:00:00Z"];
  expect(seeds.map((time) => coverageSeedOfNight(new Date(time)))).toEqual([20300205, 20300205, 20300206]);
});
