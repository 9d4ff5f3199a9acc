import { expect, it } from "vitest";

import { publishedTiers } from "../../spec/tiers.ts";
import { usableKeys } from "../../target/target.ts";
import { resolveNeeds } from "./needs.ts";
import { aKey, aTarget } from "../testing/targets.ts";
import { limitsOf } from "./key-limits.ts";

it("prefers the tokens of a key to those of its tier, and counts the key as one whose tokens can be used up", () => {
  const small = aKey({ name: "small", tier: "free", tokensPerMonth: 200 });
  const target = aTarget("http://127.0.0.1:9/v1", { keys: { small } });
  expect(limitsOf(small, target)).toEqual({ ...publishedTiers.free, tokensPerMonth: 200 });
  expect(resolveNeeds(["keys.nearQuota"], target)).toEqual({ kind: "given", given: { "keys.nearQuota": small } });
  expect(usableKeys(target)).toEqual([]);
});

it("signs with the secret of the key that needs signatures, else with the target's", () => {
  const signing = { secret: "of-the-target" };
  const signed = aKey({ name: "signed", signed: true });
  const given = (key: typeof signed): unknown =>
    resolveNeeds(["signing"], aTarget("http://127.0.0.1:9/v1", { keys: { key }, signing }));
  expect(given(signed)).toMatchObject({ given: { signing: "of-the-target" } });
  expect(given({ ...signed, signingSecret: "of-the-key" })).toMatchObject({ given: { signing: "of-the-key" } });
});
