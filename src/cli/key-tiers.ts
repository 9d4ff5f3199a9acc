import { line } from "../base/line.ts";
import { UsageError } from "../base/usage-error.ts";
import { publishedTierNames } from "../spec/tiers.ts";
import { collect } from "./option-parsers.ts";

/** The option `--tier` of commands that judge traffic, where keys have names such as `key-1`. */
export const tiersOption = [
  "--tier <tier>",
  `tier of all keys: ${publishedTierNames.join(", ")}; or of one, such as key-1=free (repeatable)`,
  collect,
  [] as string[],
] as const;

/**
 * Reads `--tier`. Returns the tier of each named key; `*` stands for all others.
 *
 * @throws {UsageError}
 */
export const readTiers = (given: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    given.map((text) => {
      const [, name = "*", tier = ""] = /^(?:(.+)=)?(.*)$/.exec(text) ?? [];
      if (!publishedTierNames.some((each) => each === tier))
        throw new UsageError(
          line`--tier is ${JSON.stringify(text)}; give ${publishedTierNames.join(", ")}, or KEY=TIER.`,
        );
      return [name, tier];
    }),
  );
