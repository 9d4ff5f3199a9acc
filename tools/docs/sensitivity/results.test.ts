import { describe, expect, it } from "vitest";

import { isFull } from "../../../src/base/testing/test-scope.ts";
import { publishedTiers } from "../../../src/spec/tiers.ts";
import { type SensitivityResults, minuteResults, zeroRemainingResults } from "./results.ts";
import { isDetected, type LimiterKind, type Situation, situations } from "./sensitivity.ts";

/**
 * Rolling windows are left out: they free one request at a time, and each retry takes real time. With the thousands of
 * requests of Pro, that takes long.
 */
const quickKinds: readonly LimiterKind[] = ["fixed", "opened by a request"];
const tables = { minute: minuteResults, told: zeroRemainingResults } as const satisfies Record<
  string,
  SensitivityResults
>;

interface Row {
  readonly name: keyof typeof tables;
  readonly tier: "free" | "pro";
  readonly situation: Situation;
  readonly min: number;
}

const rows = (Object.keys(tables) as (keyof typeof tables)[]).flatMap((name) =>
  (["free", "pro"] as const).flatMap((tier) =>
    (Object.keys(situations) as Situation[]).flatMap((situation): Row[] => {
      const min = tables[name].detected[tier][situation];
      return isFull || tier === "free" ? [{ name, tier, situation, min }] : [];
    }),
  ),
);

describe("the sensitivity results in docs/trust.md", () => {
  it.each(rows)(
    "$name of $tier, with $situation: $min is detected, and one less is not",
    { timeout: 900_000 },
    async (row) => {
      const { looseLimit } = tables[row.name];
      const kinds = isFull ? looseLimit.kinds : looseLimit.kinds.filter((kind) => quickKinds.includes(kind));
      const limits = publishedTiers[row.tier];
      expect(await isDetected(looseLimit, limits, row.situation, row.min, kinds)).toBe(true);
      expect(await isDetected(looseLimit, limits, row.situation, row.min - 1, looseLimit.kinds)).toBe(false);
    },
  );
});
