import { describe, expect, it } from "vitest";

import { publishedTiers } from "../../spec/tiers.ts";
import { usableKeys } from "../../target/target.ts";
import { resolveNeeds } from "./needs.ts";
import { aKey, aTarget } from "../testing/values.ts";
import { limitsOf, tierOfWindow } from "./key-limits.ts";

describe("the tier of a reported window", () => {
  const midHour = 1_772_600_700;
  it.each([
    [10, null, "free"],
    [10, 60, "free"],
    [100, 3000, "free"],
    [100, 60, "pro"],
    [100, null, null],
    [1000, null, "pro"],
    [1000, 3000, "pro"],
    [500, null, "team"],
    [500, 60, "team"],
    [5000, null, "team"],
    [5000, 20, "team"],
    [77, 60, null],
    [77, null, null],
  ])("with the limit %i and Reset-After %s is %s", (limit, resetAfter, tier) => {
    expect(tierOfWindow({ limit, remaining: limit - 1, resetAfter, date: midHour })).toBe(tier);
  });
});

it("prefers the tokens of a key to those of its tier, and counts the key as one whose tokens can be used up", () => {
  const small = aKey({ name: "small", tier: "free", tokensPerMonth: 200 });
  const target = aTarget("http://127.0.0.1:9/v1", { keys: { small } });
  expect(limitsOf(small, target)).toEqual({ ...publishedTiers.free, tokensPerMonth: 200 });
  expect(resolveNeeds(["keys.nearQuota"], target)).toEqual({ kind: "given", given: { "keys.nearQuota": small } });
  expect(usableKeys(target)).toEqual([]);
  const marked = aKey({ name: "marked", tier: "free", nearQuota: true });
  expect(resolveNeeds(["keys.nearQuota"], { ...target, keys: { small, marked } })).toMatchObject({
    given: { "keys.nearQuota": marked },
  });
});

it("signs with the secret of the key that needs signatures, else with the target's", () => {
  const signing = { secret: "of-the-target" };
  const signed = aKey({ name: "signed", signed: true });
  const given = (key: typeof signed): unknown =>
    resolveNeeds(["signing"], aTarget("http://127.0.0.1:9/v1", { keys: { key }, signing }));
  expect(given(signed)).toMatchObject({ given: { signing: "of-the-target" } });
  expect(given({ ...signed, signingSecret: "of-the-key" })).toMatchObject({ given: { signing: "of-the-key" } });
});
