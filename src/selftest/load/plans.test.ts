import { describe, expect, it } from "vitest";

import { type EngineName, scenarios } from "../../load/scenarios.ts";
import { isFull, sampleOf, testSeed } from "../../base/testing/test-scope.ts";
import { openEmbeddedEnvironment } from "../../app/load/trial-environment.ts";
import { allFaults, findPatch } from "../../reference/catalogue.ts";
import {
  cleanRound,
  complaintsOf,
  installedEngines,
  runLoadFaults,
  type LoadFaultTrial,
  type LoadFaultResult,
  trialsOf,
  withoutFaults,
  loadFaultPlans,
} from "./plans.ts";

describe("the load faults", () => {
  it("name faults of the server, with scenarios that judge what they must find", () => {
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
 * A round sends every scenario to a server without a fault, which takes minutes. A quick run sends no round, and a full
 * run sends one, which the seed chooses. `CONFORMANCE_WHOLE_LOAD_PROOF=1` sends all five.
 */
const allRounds = [0, 1, 2, 3, 4];
const rounds =
  process.env["CONFORMANCE_WHOLE_LOAD_PROOF"] === "1" ? allRounds : isFull ? [testSeed % allRounds.length] : [];

/**
 * A full run tries all faults with all engines. A quick run tries every second fault that only load detects. Each of
 * these is tried with one engine, in turn.
 */
function plansOf(engines: readonly EngineName[]): readonly LoadFaultTrial[] {
  if (isFull) return trialsOf(loadFaultPlans, engines);
  const ofLoad = loadFaultPlans.filter(({ fault }) => findPatch("fault", fault)?.detectedBy === "load");
  return sampleOf(
    ofLoad.map((press, at) => inTurn(trialsOf([press], engines), at)),
    { of: 2 },
  ).flat();
}

const inTurn = (trials: readonly LoadFaultTrial[], turn: number): readonly LoadFaultTrial[] =>
  trials.slice(turn % trials.length, (turn % trials.length) + 1);

/** The same loads on servers without a fault. A quick run sends only one of them, with one engine. */
function cleanOf(engines: readonly EngineName[]): readonly LoadFaultTrial[] {
  const ofEach = quickScenarios.map((name) => {
    const pressed = loadFaultPlans.filter(({ scenario }) => scenario === name);
    return withoutFaults(trialsOf(pressed, engines));
  });
  return isFull ? ofEach.flat() : sampleOf(ofEach.map(inTurn), { of: 4 }).flat();
}

describe("load on the embedded server", { timeout: 600_000 }, () => {
  it("finds what each fault breaks", async () => {
    expect(linesOf(await runLoadFaults(plansOf(await installedEngines()), openEmbeddedEnvironment))).toEqual([]);
  });

  it("finds nothing on a server without a fault", async () => {
    expect(linesOf(await runLoadFaults(cleanOf(await installedEngines()), openEmbeddedEnvironment))).toEqual([]);
  });

  it.each(rounds)("finds nothing on a server without a fault, round %i", async (round) => {
    expect(linesOf(await runLoadFaults(cleanRound(round, await installedEngines()), openEmbeddedEnvironment))).toEqual(
      [],
    );
  });
});

const quickScenarios = ["burst", "minute-limit", "concurrency", "usage-ledger"];

const linesOf = (results: readonly LoadFaultResult[]): string[] =>
  results.flatMap((each) =>
    complaintsOf(each).map(
      (text) => `${each.fault ?? "no fault"}, ${each.trial.scenario.name}, ${each.trial.engine}: ${text}`,
    ),
  );
