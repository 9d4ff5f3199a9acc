import { defaultKeyTraits, defaultTargetTraits, type Target, type TargetKey } from "../../target/target.ts";

/** Creates a valid key without restrictions. `traits` changes its properties. */
export const aKey = (traits: Partial<TargetKey> = {}): TargetKey => ({
  name: "key",
  key: "pk_correct-horse-9f2c71",
  variable: "CONFORMANCE_API_KEY",
  ...defaultKeyTraits,
  ...traits,
});

/** Creates a target with one key. `traits` changes its properties. */
export const aTarget = (baseUrl: string, traits: Partial<Target> = {}): Target => ({
  name: "target",
  baseUrl,
  keys: { key: aKey() },
  ...defaultTargetTraits,
  ...traits,
});
