import { globOf } from "../../base/glob.ts";
import { describeCondition } from "./conditions.ts";
import type { WireTrial } from "./trial.ts";

/** A kind of illegal mutant that may survive. Patterns in which `*` stands for any text. */
interface Survivor {
  readonly operation: string;
  readonly condition: string;
  readonly reason: string;
}

/** Illegal mutants that may survive, and why. */
const wireSurvivors: readonly Survivor[] = [
  {
    operation: "*",
    condition: "*second 30 to 44 of the minute",
    reason: "The reference server's clock moves only when a run moves it, and no probe needs these seconds.",
  },
];

/** Renders the survivors as a Markdown table. */
export const wireSurvivorsTable = (): string =>
  [
    "| operation | condition | why it may survive |",
    "|---|---|---|",
    ...wireSurvivors.map(({ operation, condition, reason }) => `| ${operation} | ${condition} | ${reason} |`),
  ].join("\n");

/** Returns why a mutant may survive; `null` if no row excuses it. */
export const survivalReason = ({ mutant: { operation, condition } }: Pick<WireTrial, "mutant">): string | null =>
  wireSurvivors.find(
    (row) => globOf(row.operation)(operation.description) && globOf(row.condition)(describeCondition(condition)),
  )?.reason ?? null;
