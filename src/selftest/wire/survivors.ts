import { globMatcher } from "../../base/text.ts";
import { describeCondition } from "./conditions.ts";
import type { WireTrial, WireMutantStatus } from "./trial.ts";

/**
 * A kind of mutant that breaks a clause, but that the checks can miss. In `mutation` and `condition`, `*` stands for
 * any text.
 */
interface Survivor {
  readonly mutation: string;
  readonly condition: string;
  readonly reason: string;
}

const anything = "*";

const row = (reason: string, mutation: string, condition = anything): Survivor => ({ mutation, condition, reason });

const wireSurvivors: readonly Survivor[] = [
  row(
    "The reference server's clock moves only when a run moves it, so few requests of one kind come in each quarter.",
    anything,
    "*second * to * of the minute",
  ),
  row(
    "One or two reports do not show the unit of `uptime`, because each replica has its own (HLT-8). An `execution_time` may be as long as the clock was moved meanwhile.",
    "*milliseconds for seconds*",
  ),
  row(
    "A cost is red only if it repeats and nobody else can have used the key, and only where neighbours of the request tell its cost.",
    "charge *",
  ),
  row(
    "The count is judged by its fall from one request to the next, which the next window or a concurrent request may hide.",
    "remaining three too high",
  ),
  row("A key has one first request, so each endpoint gets that of a few keys only.", anything, "*age first*"),
  row("A key has one second request, so each endpoint gets that of a few keys only.", anything, "*age second*"),
  row(
    "The limits are used up by thousands of readings of usage, of which only the status and the rate-limit headers are kept.",
    "* (usage*",
  ),
  row(
    "A run reaches every pair of properties of a request, and most triples, but not all: each that runs an agent costs an execution.",
    anything,
    "*, *, *",
  ),
  row(
    "The list that a run requests at this number may show all agents, so there are no more items to add.",
    "more items than the limit (list)",
    "*request number *",
  ),
  row(
    "The key is refused only for agents that it must not use. A run tries each property with this key, but mostly with its own agent.",
    "let a key pass that is one agent",
  ),
  row(
    "The document does not say whether requests that run no agent are limited, so an admitted one breaks nothing by itself.",
    "let a request pass with the * used up",
  ),
  row(
    "What creates something is asked for with a malformed body while a key is used up, and the order of refusals is not stated.",
    "40* for 429 (*",
  ),
];

export const wireSurvivorsTable = (): string =>
  [
    "| mutation | condition | why it may survive |",
    "|---|---|---|",
    ...wireSurvivors.map(({ mutation, condition, reason }) => `| ${mutation} | ${condition} | ${reason} |`),
  ].join("\n");

export const survivalReason = ({ mutant: { mutation, condition } }: Pick<WireTrial, "mutant">): string | null =>
  wireSurvivors.find(
    (each) =>
      globMatcher(each.mutation)(mutation.description) && globMatcher(each.condition)(describeCondition(condition)),
  )?.reason ?? null;

export interface ClassRow {
  readonly name: string;
  readonly killed: number;
  readonly survived: number;
  readonly notVisited: number;
}

export interface WireSummary {
  readonly countByStatus: Readonly<Record<WireMutantStatus, number>>;
  readonly byCondition: readonly ClassRow[];
  readonly byMutation: readonly ClassRow[];
  readonly killedPercent: number | null;
  /** Like `killedPercent`, but only for mutants with an extra condition, e.g. a long body or every third request. */
  readonly killedPercentOfExtraProperties: number | null;
  readonly unexplained: number;
}

export function summariseWire(trials: readonly WireTrial[]): WireSummary {
  const illegal = trials.filter(({ mutant }) => mutant.kind === "illegal");
  return {
    countByStatus: {
      killed: count(trials, "killed"),
      survived: count(trials, "survived"),
      "not visited": count(trials, "not visited"),
      passed: count(trials, "passed"),
      flagged: count(trials, "flagged"),
      broken: count(trials, "broken"),
    },
    byCondition: rowsBy(illegal, ({ mutant }) => mutant.conditionClass),
    byMutation: rowsBy(illegal, ({ mutant }) => mutant.mutation.class),
    killedPercent: percentKilled(illegal),
    killedPercentOfExtraProperties: percentKilled(illegal.filter(({ mutant }) => !mutant.isDimensional)),
    unexplained: illegal.filter((trial) => isSurvivor(trial) && survivalReason(trial) === null).length,
  };
}

export const isSurvivor = ({ status }: Pick<WireTrial, "status">): boolean =>
  status === "survived" || status === "not visited";

const count = (trials: readonly WireTrial[], status: WireMutantStatus): number =>
  trials.filter((each) => each.status === status).length;

function rowsBy(trials: readonly WireTrial[], nameOf: (trial: WireTrial) => string): ClassRow[] {
  return [...Map.groupBy(trials, nameOf)]
    .map(([name, members]) => ({
      name,
      killed: count(members, "killed"),
      survived: count(members, "survived"),
      notVisited: count(members, "not visited"),
    }))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

const percentKilled = (illegal: readonly WireTrial[]): number | null =>
  illegal.length === 0 ? null : Math.floor((1000 * count(illegal, "killed")) / illegal.length) / 10;
