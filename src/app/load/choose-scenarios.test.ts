import { describe, expect, it } from "vitest";

import { scenarios } from "../../load/scenarios.ts";
import { chooseScenarios, defaultScenarios, defaultScenariosOnTarget } from "./plan-load.ts";

const namesOf = (...args: Parameters<typeof chooseScenarios>): string[] =>
  chooseScenarios(...args).map(({ name }) => name);

describe("choosing scenarios", () => {
  it("takes those that were named, each once, in the order given", () => {
    expect(namesOf(["recovery", "burst", "recovery"], false)).toEqual(["recovery", "burst"]);
  });

  it("takes a short set where none was named, another one where the clock is real", () => {
    expect(namesOf([], false)).toEqual(defaultScenarios);
    expect(namesOf([], true)).toEqual(defaultScenariosOnTarget);
  });

  it("takes all", () => {
    expect(chooseScenarios("all", true)).toBe(scenarios);
  });

  it.each([
    ["brust", /There is no load scenario "brust"\. Near: burst\./],
    ["minute", /Near: minute-limit[,.]/],
    ["streams", /Near: held-streams/],
    ["zzzzzzzz", /There are: minute-limit, hour-limit/],
  ])("suggests near names for %s", (name, message) => {
    expect(() => chooseScenarios([name], false)).toThrow(message);
  });
});
