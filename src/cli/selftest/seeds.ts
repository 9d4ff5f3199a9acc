import { formatCount } from "../../base/text.ts";
import { type SeedTrial, trySeeds } from "../../selftest/seeds.ts";
import { exitCodes } from "../exit-codes.ts";

/**
 * Tries legal servers of many variants at once. Prints a row for each seed that fails, with the fewest variants that show it; resolves to
 * the exit code.
 */
export async function selftestBySeeds({
  seeds,
  seed,
  full = false,
  json = false,
}: {
  readonly seeds: number;
  readonly seed: number;
  readonly full?: boolean;
  readonly json?: boolean;
}): Promise<number> {
  const drawn = Array.from({ length: seeds }, (_, index) => seed + index);
  const trials = await trySeeds(drawn, full ? "full" : "short", (trial) => {
    if (!json) process.stdout.write(rowOf(trial));
  });
  const wrong = trials.filter(({ complaints }) => complaints.length > 0);
  if (json) process.stdout.write(`${JSON.stringify(trials, null, 2)}\n`);
  else process.stdout.write(`\n${formatCount(trials.length, "legal server")}: ${verdictOf(wrong.length)}\n`);
  return wrong.length === 0 ? exitCodes.fine : exitCodes.broken;
}

const verdictOf = (wrong: number): string => (wrong === 0 ? "none turns anything red" : `${wrong} wrong`);

function rowOf({ seed, variants, complaints, fewest }: SeedTrial): string {
  const head = `${complaints.length === 0 ? "ok   " : "WRONG"} seed ${seed}: ${formatCount(variants.length, "variant")}`;
  if (complaints.length === 0) return `${head}\n`;
  const again = `        the fewest that show it: ${fewest.join(", ")}`;
  const serve = `        conformance run ${fewest.map((name) => `--variant ${name}`).join(" ")}`;
  return [head, ...complaints.map((text) => `        ${text}`), again, serve, ""].join("\n");
}
