import { fileTroubles, processTroubles } from "./machine.ts";
import { networkTroubles, targetTroubles } from "./target-and-network.ts";
import type { Trouble } from "./trouble.ts";
import type { Tried } from "./try-all.ts";

/** Every kind of trouble. To add a kind, add a row to one of these tables. */
export const troubles: readonly Trouble[] = [
  ...targetTroubles,
  ...networkTroubles,
  ...fileTroubles,
  ...processTroubles,
];

/** Formats trials as a Markdown table, with a row for each kind of trouble. */
export function tableOf(tried: readonly Tried[]): string {
  const rows = [...Map.groupBy(tried, ({ trouble }) => trouble)].map(([{ name, summary }, trials]) => {
    const ends = [...Map.groupBy(trials, ({ end }) => end)]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([end, those]) => `${end} (${those.length})`);
    const failed = trials.filter(({ problems }) => problems.length > 0).length;
    return `| ${name} | ${summary} | ${trials.length} | ${ends.join(", ")} | ${failed} |`;
  });
  return ["| trouble | what happens | trials | exit codes | wrong |", "|---|---|---|---|---|", ...rows].join("\n");
}
