import { defaultKeyTraits, defaultTargetTraits, type Target, type TargetKey } from "../../target/target.ts";

/** A valid key without restrictions, with the given properties. */
export const aKey = (traits: Partial<TargetKey> = {}): TargetKey => ({
  name: "key",
  key: "pk_correct-horse-9f2c71",
  variable: "CONFORMANCE_API_KEY",
  ...defaultKeyTraits,
  ...traits,
});

/** A target with one key, and the given properties. */
export const aTarget = (baseUrl: string, traits: Partial<Target> = {}): Target => ({
  name: "target",
  baseUrl,
  keys: { key: aKey() },
  ...defaultTargetTraits,
  ...traits,
});
