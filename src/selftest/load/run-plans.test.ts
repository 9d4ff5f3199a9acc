import { describe, expect, it } from "vitest";

import { type EngineName, scenarios } from "../../load/scenarios.ts";
import { isFull, sampleOf, testSeed } from "../../base/testing/test-scope.ts";
import { openEmbeddedEnvironment } from "../../app/load/embedded-environment.ts";
import { allFaults, findPatch } from "../../reference/catalogue.ts";
import {
  cleanRound,
  complaintsOf,
  enginesHere,
  runLoadFaults,
  type LoadFaultTrial,
  type LoadFaultResult,
  trialsOf,
  withoutFaults,
} from "./run-plans.ts";
import { loadFaultPlans } from "./plans.ts";

describe("the faults that pressure shows", () => {
  it("are faults of the server, under scenarios that claim what they must find", () => {
    for (const { fault, scenario: name, finds } of loadFaultPlans) {
      const breaks: readonly string[] = findPatch("fault", fault)?.breaks ?? [];
      const claims = scenarios.find((scenario) => scenario.name === name)?.claims ?? [];
      for (const claim of finds.filter((each) => !each.startsWith("load/"))) {
        expect(breaks, fault).toContain(claim);
        expect(claims, name).toContain(claim);
      }
    }
  });

  it("have each a scenario that finds them, where the suites need not", () => {
    const pressed = new Set(loadFaultPlans.map(({ fault }) => fault));
    const open = allFaults.filter(({ name, detectedBy }) => detectedBy === "load" && !pressed.has(name));
    expect(open.map(({ name }) => name)).toEqual([]);
  });
});

/**
 * Each round is every scenario on the server without a fault, and takes minutes: none in a quick run, one in a full one, which the seed
 * chooses, and all five with `CONFORMANCE_WHOLE_LOAD_PROOF=1`.
 */
const allRounds = [0, 1, 2, 3, 4];
const rounds =
  process.env["CONFORMANCE_WHOLE_LOAD_PROOF"] === "1" ? allRounds : isFull ? [testSeed % allRounds.length] : [];

/** But in a full run only what the suites do not find is pressed, by one engine each, in turn: a sample of it in a quick one. */
function pressesOf(engines: readonly EngineName[]): readonly LoadFaultTrial[] {
  if (isFull) return trialsOf(loadFaultPlans, engines);
  const ofLoad = loadFaultPlans.filter(({ fault }) => findPatch("fault", fault)?.detectedBy === "load");
  return sampleOf(
    ofLoad.map((press, at) => inTurn(trialsOf([press], engines), at)),
    { of: 2 },
  ).flat();
}

const inTurn = (trials: readonly LoadFaultTrial[], turn: number): readonly LoadFaultTrial[] =>
  trials.slice(turn % trials.length, (turn % trials.length) + 1);

/** The same loads without a fault: by one engine each but in a full run, in a quick one a single scenario. */
function cleanOf(engines: readonly EngineName[]): readonly LoadFaultTrial[] {
  const ofEach = quickScenarios.map((name) => {
    const pressed = loadFaultPlans.filter(({ scenario }) => scenario === name);
    return withoutFaults(trialsOf(pressed, engines));
  });
  return isFull ? ofEach.flat() : sampleOf(ofEach.map(inTurn), { of: 4 }).flat();
}

describe("load on the embedded server", { timeout: 600_000 }, () => {
  it("finds each fault by what it breaks", async () => {
    expect(told(await runLoadFaults(pressesOf(await enginesHere()), openEmbeddedEnvironment))).toEqual([]);
  });

  it("finds nothing where there is no fault", async () => {
    expect(told(await runLoadFaults(cleanOf(await enginesHere()), openEmbeddedEnvironment))).toEqual([]);
  });

  it.each(rounds)("finds nothing where there is no fault, round %i", async (round) => {
    expect(told(await runLoadFaults(cleanRound(round, await enginesHere()), openEmbeddedEnvironment))).toEqual([]);
  });
});

const quickScenarios = ["burst", "minute-limit", "concurrency", "usage-ledger"];

const told = (pressed: readonly LoadFaultResult[]): string[] =>
  pressed.flatMap((each) =>
    complaintsOf(each).map(
      (text) => `${each.fault ?? "no fault"}, ${each.trial.scenario.name}, ${each.trial.engine}: ${text}`,
    ),
  );
