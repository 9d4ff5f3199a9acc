import { scenarioNamed } from "../../load/scenarios.ts";
import type { FindingTrial } from "../../report/model/load-results.ts";
import { loadCommand } from "../../report/reproduce/finding-evidence.ts";
import { shellQuote } from "../../base/shell-words.ts";
import type { Target } from "../../target/target.ts";

export interface ReproductionOptions {
  readonly target: Target | null;
  readonly targetFile: string | null;
  readonly patchFlags: string;
}

/** Options for a load that was judged from saved evidence. The load's target is unknown. */
export const unknownTarget: ReproductionOptions = { target: null, targetFile: null, patchFlags: "" };

/** Returns commands that repeat a trial. Keys appear only as shell variables. */
export function reproductionCommands(load: FindingTrial, parts: ReproductionOptions): string[] {
  const scenario = scenarioNamed(load.scenario);
  const hasK6 = scenario?.engines.includes("k6") === true;
  return [
    `${loadCommand(load)}${targetFlagsText(parts)}`,
    ...(hasK6 ? k6Lines(load, scenario.needs.includes("keys.second"), parts) : []),
  ];
}

function targetFlagsText({ target, targetFile, patchFlags }: ReproductionOptions): string {
  if (target === null) return patchFlags;
  if (targetFile !== null) return ` --target ${shellQuote(targetFile)}`;
  return ` --base-url ${shellQuote(target.baseUrl)}`;
}

function k6Lines(
  { scenario, tier }: FindingTrial,
  needsSecond: boolean,
  { target, patchFlags }: ReproductionOptions,
): string[] {
  const [main, second] = target === null ? [] : Object.values(target.keys).filter((key) => key.tier === tier);
  const baseUrl = target === null ? '"$BASE_URL"' : shellQuote(target.baseUrl);
  const keys = [
    `-e API_KEY="$${main?.variable ?? "API_KEY"}"`,
    ...(needsSecond ? [`-e API_KEY_SECOND="$${second?.variable ?? "API_KEY_SECOND"}"`] : []),
  ];
  const command = `k6 run k6/${scenario}.ts -e BASE_URL=${baseUrl} ${keys.join(" ")} -e TIER=${shellQuote(tier)}`;
  return target === null
    ? [`${command}   # on \`conformance serve${patchFlags}\`, which prints its address and keys`]
    : [command];
}
