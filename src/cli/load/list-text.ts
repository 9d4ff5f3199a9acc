import { type Scenario, scenarios, scenarioTiers } from "../../load/scenarios.ts";
import { duration } from "../../base/duration.ts";
import { type TableColumn, tableGap, tableLines } from "../../base/table.ts";
import { formatLabelled, wrap } from "../../base/text.ts";
import type { TierName } from "../../spec/tiers.ts";
import { embeddedLimits } from "../../app/load/embedded-environment.ts";

/** What `conformance load list` tells of a scenario. */
export interface ListedScenario {
  readonly name: string;
  readonly title: string;
  readonly tiers: readonly string[];
  readonly claims: readonly string[];
  readonly engines: readonly string[];
  readonly needs: readonly string[];
  /** Of the tier that takes longest, in real seconds: on the embedded server, and on a target whose clock is real. */
  readonly seconds: { readonly embedded: number; readonly real: number };
}

export const listedScenarios = (): ListedScenario[] => scenarios.map(listed);

function listed(scenario: Scenario): ListedScenario {
  const { name, title, claims, engines, needs } = scenario;
  const tiers = scenarioTiers(scenario);
  const most = (secondsOf: (tier: TierName) => number): number => Math.max(...tiers.map(secondsOf));
  const real = most((tier) => scenario.seconds(embeddedLimits(scenario, tier)));
  const embedded = most((tier) => {
    const limits = embeddedLimits(scenario, tier);
    return scenario.seconds(limits) / scenario.speed(limits);
  });
  return { name, title, tiers, claims, engines, needs, seconds: { embedded, real } };
}

const nameColumns = 24;
const settingColumns = 22;
const longestColumns = 11;
/** Columns besides the two that take what is left, and the gaps between all. */
const fixedWidth = nameColumns + settingColumns + longestColumns + 4 * tableGap;
const leastFlexible = 50;

/** For people: a table, or a paragraph a scenario where the terminal is narrow. Ends with a line feed. */
export function listText(width: number): string {
  const flexible = width - fixedWidth;
  const shown = flexible < leastFlexible ? paragraphs(width) : tableText(flexible);
  const note = "longest: of one tier on the embedded server; in brackets, where the target's clock is real";
  return `${shown}\n\n${wrap(note, width).join("\n")}\n`;
}

function tableText(flexible: number): string {
  const wide = Math.floor(flexible / 2);
  const column = (head: string, columns: number): TableColumn => ({
    head,
    align: "left",
    width: { kind: "wrapped", columns },
  });
  const heads = [
    column("scenario", nameColumns),
    column("what it shows", wide),
    column("claims", flexible - wide),
    column("tiers, engines, needs", settingColumns),
    column("longest", longestColumns),
  ];
  // A scenario takes several lines: a blank one parts it from the next.
  const rows = listedScenarios().flatMap((each) => [[""], rowOf(each)]);
  return tableLines(heads, rows).join("\n");
}

const rowOf = (each: ListedScenario): string[] => [
  each.name,
  each.title,
  each.claims.join(", "),
  settingOf(each).join("; "),
  longestOf(each).join(" "),
];

const paragraphs = (width: number): string =>
  listedScenarios()
    .flatMap((each) => [
      each.name,
      ...[
        each.title,
        each.claims.join(", "),
        settingOf(each).join("; "),
        `longest ${longestOf(each).join(" ")}`,
      ].flatMap((text) => formatLabelled("  ", text, width, (blank) => blank)),
      "",
    ])
    .join("\n");

const settingOf = ({ tiers, engines, needs }: ListedScenario): string[] => [
  tiers.join(", "),
  engines.join(", "),
  ...(needs.length === 0 ? [] : [`needs ${needs.join(", ")}`]),
];

const longestOf = ({ seconds: { embedded, real } }: ListedScenario): string[] => [
  short(embedded),
  ...(real > embedded ? [`(${short(real)})`] : []),
];

const short = (seconds: number): string => duration(Math.round(seconds) * 1000).replace(/\.\d+ s/, " s");
