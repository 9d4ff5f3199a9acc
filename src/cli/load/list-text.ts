import { type Scenario, scenarios, scenarioTiers } from "../../load/scenarios.ts";
import { formatDuration } from "../../base/duration.ts";
import { type TableColumn, tableGap, tableLines } from "../../report/terminal/section-lines.ts";
import { formatLabelled, wrap } from "../../base/text.ts";
import type { TierName } from "../../spec/tiers.ts";
import { embeddedLimits } from "../../app/load/trial-environment.ts";

interface ListedScenario {
  readonly name: string;
  readonly title: string;
  readonly tiers: readonly string[];
  readonly claims: readonly string[];
  readonly engines: readonly string[];
  readonly needs: readonly string[];
  /**
   * Duration of the scenario on its slowest tier. `embedded`: on the embedded server, whose clock may run faster than
   * real time. `real`: on a server whose clock does not.
   */
  readonly seconds: { readonly embedded: number; readonly real: number };
}

export const listedScenarios = (): ListedScenario[] => scenarios.map(listedScenario);

function listedScenario(scenario: Scenario): ListedScenario {
  const { name, title, claims, engines, needs } = scenario;
  const tiers = scenarioTiers(scenario);
  const slowest = (secondsOf: (tier: TierName) => number): number => Math.max(...tiers.map(secondsOf));
  const real = slowest((tier) => scenario.seconds(embeddedLimits(scenario, tier)));
  const embedded = slowest((tier) => {
    const limits = embeddedLimits(scenario, tier);
    return scenario.seconds(limits) / scenario.speed(limits);
  });
  return { name, title, tiers, claims, engines, needs, seconds: { embedded, real } };
}

const nameColumns = 24;
const settingColumns = 22;
const longestColumns = 11;
const fixedWidth = nameColumns + settingColumns + longestColumns + 4 * tableGap;
const minFlexibleWidth = 50;

export function scenarioListText(width: number): string {
  const flexible = width - fixedWidth;
  const shown = flexible < minFlexibleWidth ? paragraphs(width) : tableText(flexible);
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
  // An empty row separates the scenarios, because a scenario may fill several lines.
  const rows = listedScenarios().flatMap((each) => [[""], rowOf(each)]);
  return tableLines(heads, rows).join("\n");
}

const rowOf = (each: ListedScenario): string[] => [
  each.name,
  each.title,
  each.claims.join(", "),
  settingOf(each).join("; "),
  durationTexts(each).join(" "),
];

const paragraphs = (width: number): string =>
  listedScenarios()
    .flatMap((each) => [
      each.name,
      ...[
        each.title,
        each.claims.join(", "),
        settingOf(each).join("; "),
        `longest ${durationTexts(each).join(" ")}`,
      ].flatMap((text) => formatLabelled("  ", text, width, (blank) => blank)),
      "",
    ])
    .join("\n");

const settingOf = ({ tiers, engines, needs }: ListedScenario): string[] => [
  tiers.join(", "),
  engines.join(", "),
  ...(needs.length === 0 ? [] : [`needs ${needs.join(", ")}`]),
];

const durationTexts = ({ seconds: { embedded, real } }: ListedScenario): string[] => [
  shortDuration(embedded),
  ...(real > embedded ? [`(${shortDuration(real)})`] : []),
];

const shortDuration = (seconds: number): string => formatDuration(Math.round(seconds) * 1000).replace(/\.\d+ s/, " s");
