import { describe, expect, it } from "vitest";

import { type EngineName, type Scenario, scenarioNamed, scenarios, scenarioTiers } from "./scenarios.ts";
import { tierNames } from "../spec/tiers.ts";
import { chooseTrials, type TrialChoice, trialName } from "./trials.ts";

const named = (...names: string[]): Scenario[] => names.flatMap((name) => scenarioNamed(name) ?? []);
const both: readonly EngineName[] = ["autocannon", "k6"];
const choose = (choice: Partial<TrialChoice>): string[] =>
  chooseTrials({
    scenarios: named("burst"),
    tiers: tierNames,
    engine: "first",
    engines: both,
    usesScenarioLimits: true,
    ...choice,
  }).map(trialName);

describe("the trials of a load run", () => {
  it("are one for each tier of a scenario, by its first engine", () => {
    const tiers = named("burst").flatMap(scenarioTiers);
    expect(tiers).toEqual(expect.arrayContaining(["free", "pro", "enterprise"]));
    expect(choose({})).toEqual(tiers.map((tier) => `burst-${tier}-autocannon`));
  });

  it("alternate the engines, but for scenarios that only k6 can send", () => {
    expect(
      choose({ scenarios: named("burst", "sustained", "far-over"), tiers: ["free", "pro"], engine: "in turns" }),
    ).toEqual([
      "burst-free-autocannon",
      "burst-pro-k6",
      "sustained-free-k6",
      "sustained-pro-k6",
      "far-over-pro-autocannon",
    ]);
  });

  it("are sent by the engine that is here", () => {
    expect(choose({ engine: "in turns", engines: ["autocannon"], tiers: ["pro"] })).toEqual(["burst-pro-autocannon"]);
  });

  it("include scenarios that no installed engine can send", () => {
    expect(choose({ scenarios: named("sustained"), engines: ["autocannon"], tiers: ["pro"] })).toEqual([
      "sustained-pro-k6",
    ]);
  });

  it("exclude scenarios that the chosen engine cannot send", () => {
    expect(choose({ scenarios: named("sustained"), engine: "autocannon" })).toEqual([]);
  });

  it("use only the enterprise tier if the scenario defines its limits, but all tiers of a user's target", () => {
    const storm = { scenarios: named("webhook-storm") };
    expect(choose(storm)).toEqual(["webhook-storm-enterprise-autocannon"]);
    expect(choose({ ...storm, usesScenarioLimits: false })).toHaveLength(2);
  });

  it("have names of their own, all of them", () => {
    const names = choose({ scenarios, engine: "in turns" });
    expect(new Set(names).size).toBe(names.length);
  });
});
