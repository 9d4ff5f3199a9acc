import { defaultKeyTraits, defaultTargetTraits, type Target, type TargetKey } from "../../target/target.ts";

/** A valid key without restrictions, but for what is given. */
export const aKey = (traits: Partial<TargetKey> = {}): TargetKey => ({
  name: "key",
  key: "pk_correct-horse-9f2c71",
  variable: "CONFORMANCE_API_KEY",
  ...defaultKeyTraits,
  ...traits,
});

/** A target with one key, of which nothing else is known, but for what is given. */
export const aTarget = (baseUrl: string, traits: Partial<Target> = {}): Target => ({
  name: "target",
  baseUrl,
  keys: { key: aKey() },
  ...defaultTargetTraits,
  ...traits,
});
