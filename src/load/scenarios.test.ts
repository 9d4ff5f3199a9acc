import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { flow, invoke } from "../../scenarios/traffic.ts";
import { clauses } from "../spec/clauses.ts";
import { embeddedLimits } from "../app/load/trial-environment.ts";
import { tierNames } from "../spec/tiers.ts";
import { referenceTiers } from "../reference/keys.ts";
import { unsupportedReason } from "./engine.ts";
import { atSpeed, requestCount, scenarioNamed, scenarios, scenarioTiers } from "./scenarios.ts";

const folder = new URL("../../scenarios/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
const shared = ["all.ts", "scenario.ts", "traffic.ts"];

const instances = scenarios.flatMap((scenario) =>
  scenarioTiers(scenario).map((tier) => ({
    name: scenario.name,
    tier,
    scenario,
    limits: embeddedLimits(scenario, tier),
  })),
);

describe("the scenarios", () => {
  it("have a file each, named like the scenario", () => {
    const names = files.filter((name) => !shared.includes(name));
    expect(names.toSorted()).toEqual(scenarios.map(({ name }) => `${name}.ts`).toSorted());
  });

  it("are found by name", () => {
    expect(scenarioNamed("burst")?.name).toBe("burst");
    expect(scenarioNamed("no-such")).toBeUndefined();
  });

  it("import only each other, so that src can read them and k6 can run them", () => {
    const imports = files.flatMap(
      (name) => readFileSync(new URL(name, folder), "utf8").match(/ from "(.*)";$/gm) ?? [],
    );
    expect(imports.length).toBeGreaterThan(files.length);
    expect(imports.filter((line) => !/^ from "\.\/[a-z-]+\.ts";$/.test(line))).toEqual([]);
  });

  it.each(scenarios)("$name claims only clauses of the document", ({ claims }) => {
    expect(claims.filter((claim) => !Object.hasOwn(clauses, claim))).toEqual([]);
    expect(claims.length).toBeGreaterThan(0);
  });

  it.each(scenarios)("$name names engines that can send it", (scenario) => {
    const flows = scenario.flows(referenceTiers.pro);
    expect(scenario.engines.filter((engine) => unsupportedReason(engine, flows) !== null)).toEqual([]);
  });

  it.each(instances)("$name on $tier plans flows with unique names and whole amounts", ({ scenario, limits }) => {
    const flows = scenario.flows(limits);
    expect(new Set(flows.map(({ name }) => name)).size).toBe(flows.length);
    expect(flows.filter(({ name }) => !/^[a-z][a-z0-9-]*$/.test(name))).toEqual([]);
    expect(
      flows.map(requestCount).filter((count) => count !== null && !(Number.isInteger(count) && count > 0)),
    ).toEqual([]);
    expect(Math.min(...flows.map(({ afterSeconds }) => afterSeconds))).toBeLessThan(1);
  });

  it.each(instances)("$name on $tier declares what its flows need", ({ scenario, limits }) => {
    const flows = scenario.flows(limits);
    const roles = ["slow", "slowStreaming", "failing"] as const;
    const needed = roles.filter((role) => flows.some(({ operation }) => operation.agent === role));
    expect(scenario.needs).toEqual(expect.arrayContaining(needed.map((role) => `agents.${role}`)));
    expect(scenario.needs.includes("keys.second")).toBe(flows.some(({ key }) => key === "second"));
  });

  it("take less than a minute a tier in all on the embedded server, as `load --all` sends each by one engine", () => {
    const seconds = instances
      .filter(({ scenario, tier }) => scenario.enterpriseLimits === null || tier === "enterprise")
      .map(({ scenario, limits }) => scenario.seconds(limits) / scenario.speed(limits));
    expect(seconds.reduce((sum, each) => sum + each, 0)).toBeLessThan(60 * tierNames.length);
  });
});

describe("a flow on a faster clock", () => {
  it.each([
    [{ kind: "closed", atOnce: 2, seconds: 60 } as const, { kind: "closed", atOnce: 2, seconds: 2 }],
    [{ kind: "paced", perSecond: 1.5, seconds: 60 } as const, { kind: "paced", perSecond: 45, seconds: 2 }],
    [{ kind: "in turn", requests: 7 } as const, { kind: "in turn", requests: 7 }],
  ])("has the same amounts and shorter times: %o", (shape, expected) => {
    const planned = flow("one", invoke, shape, { afterSeconds: 30, leaveAfterMs: 3000 });
    expect(atSpeed(planned, 30)).toEqual({ ...planned, afterSeconds: 1, leaveAfterMs: 100, shape: expected });
    expect(requestCount(atSpeed(planned, 30))).toBe(requestCount(planned));
  });
});
