import type { Command } from "commander";

import { line } from "../base/line.ts";
import { UsageError } from "../base/usage-error.ts";
import { publishedTierNames } from "../spec/tiers.ts";
import { appendValue } from "./option-parsers.ts";
import { readRequirements, requirementsOption, type RequirementsFlag } from "./requirements-flag.ts";
import { type FailureFlags, type FormatFlags, withFailureOptions, withFormatOptions } from "./report/format-flags.ts";

/** Flags of the commands that judge traffic of other programs: `judge` and `proxy`. */
export interface TrafficFlags extends FormatFlags, FailureFlags, RequirementsFlag {
  readonly tier: readonly string[];
  readonly bodies: boolean;
  readonly complete?: boolean;
  readonly out?: string;
  readonly quiet?: boolean;
}

/** Adds the flags of commands that judge traffic: how to judge it, and where to write the report. */
export function withTrafficOptions(command: Command): Command {
  command
    .option(
      "--tier <tier>",
      `tier of all keys: ${publishedTierNames.join(", ")}; or of one, such as key-1=free (repeatable)`,
      appendValue,
      [],
    )
    .option("--no-bodies", "write no bodies into evidence.json")
    .option(...requirementsOption)
    .option("--complete", "a must clause that was not exercised fails as well")
    .option("--out <dir>", "folder for report.json and evidence.json (default: a new one under reports/)")
    .option("--json <file>", "report.json to this file as well; - prints it, and nothing else, on standard output")
    .option("-q, --quiet", "only what is broken, and the verdict");
  return withFormatOptions(withFailureOptions(command), ["report", "exchanges"]);
}

/**
 * Reads the flags that decide how traffic is judged.
 *
 * @throws {UsageError} if there is no such tier or requirement set
 */
export const readTrafficOptions = (flags: TrafficFlags) => ({
  tiers: readTiers(flags.tier),
  keepsBodies: flags.bodies,
  requirements: readRequirements(flags),
});

/**
 * Reads `--tier`. Returns the tier of each named key; `*` stands for all others.
 *
 * @throws {UsageError} if there is no such tier
 */
const readTiers = (given: readonly string[]): ReadonlyMap<string, string> =>
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
