import Table from "cli-table3";

import { scenarios } from "../../../scenarios/all.ts";
import type { Scenario } from "../../../scenarios/scenario.ts";
import { duration } from "../../report/layout.ts";
import { embeddedLimits } from "./embedded-ground.ts";

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
  const { name, title, tiers, claims, engines, needs } = scenario;
  const most = (secondsOf: (tier: Scenario["tiers"][number]) => number): number => Math.max(...tiers.map(secondsOf));
  const real = most((tier) => scenario.seconds(embeddedLimits(scenario, tier)));
  const embedded = most((tier) => {
    const limits = embeddedLimits(scenario, tier);
    return scenario.seconds(limits) / scenario.speed(limits);
  });
  return { name, title, tiers, claims, engines, needs, seconds: { embedded, real } };
}

/** A table for people, as wide as the terminal. */
export function listText(width: number): string {
  const rest = Math.max(60, width - 24 - 22 - 13);
  const wide = Math.floor(rest / 2);
  const table = new Table({
    head: ["scenario", "what it shows", "claims", "tiers, engines, needs", "longest"],
    style: { head: [], border: [], compact: true },
    colWidths: [24, wide, rest - wide, 22, 13],
    wordWrap: true,
  });
  for (const { name, title, claims, tiers, engines, needs, seconds } of listedScenarios())
    table.push([
      name,
      title,
      claims.join(", "),
      [tiers.join(", "), engines.join(", "), ...(needs.length === 0 ? [] : [`needs ${needs.join(", ")}`])].join("\n"),
      `${short(seconds.embedded)}\n${seconds.real > seconds.embedded ? `(${short(seconds.real)})` : ""}`.trim(),
    ]);
  return `${table.toString()}\nlongest: of one tier on the embedded server; in brackets, where the target's clock is real\n`;
}

const short = (seconds: number): string => duration(Math.round(seconds) * 1000).replace(/\.\d+ s/, " s");
