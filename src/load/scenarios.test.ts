import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { scenarioNamed, scenarios } from "../../scenarios/all.ts";
import { atSpeed, requestCount, type Scenario } from "../../scenarios/scenario.ts";
import { flow, invoke } from "../../scenarios/traffic.ts";
import { clauses } from "../spec/clauses.ts";
import { type TierLimits, type TierName, tierNames } from "../spec/tiers.ts";
import { referenceTiers } from "../reference/keys.ts";
import { unsupportedReason } from "./engine.ts";

const folder = new URL("../../scenarios/", import.meta.url);
const shared = ["all.ts", "scenario.ts", "traffic.ts"];

/** What the embedded server runs a scenario on. */
const limitsOf = ({ enterpriseLimits }: Scenario, tier: TierName): TierLimits =>
  tier === "enterprise" && enterpriseLimits !== null ? enterpriseLimits : referenceTiers[tier];
const instances = scenarios.flatMap((scenario) =>
  scenario.tiers.map((tier) => ({ name: scenario.name, tier, scenario, limits: limitsOf(scenario, tier) })),
);

describe("the scenarios", () => {
  it("are a file each, named as the scenario is", () => {
    const files = readdirSync(folder).filter((name) => name.endsWith(".ts") && !shared.includes(name));
    expect(files.toSorted()).toEqual(scenarios.map(({ name }) => `${name}.ts`).toSorted());
  });

  it("have a row each in the table of their folder, and a script each for k6", () => {
    const rows = readFileSync(new URL("README.md", folder), "utf8").matchAll(/^\| `([a-z-]+)` /gm);
    expect([...rows].map(([, name]) => name)).toEqual(scenarios.map(({ name }) => name));
    const scripts = readdirSync(new URL("../k6/", folder)).filter((name) => scenarioNamed(name.replace(/\.ts$/, "")));
    expect(scripts.toSorted()).toEqual(scenarios.map(({ name }) => `${name}.ts`).toSorted());
  });

  it("are found by name", () => {
    expect(scenarioNamed("burst")?.name).toBe("burst");
    expect(scenarioNamed("no-such")).toBeUndefined();
  });

  it("import nothing that k6 cannot read: values from each other and from the interface only", () => {
    const imports = readdirSync(folder)
      .filter((name) => name.endsWith(".ts"))
      .flatMap(
        (name) => readFileSync(new URL(name, folder), "utf8").match(/^import (?!type ).* from "(.*)";$/gm) ?? [],
      );
    expect(imports.filter((line) => !/from "\.\/[a-z-]+\.ts";$|src\/interface\//.test(line))).toEqual([]);
  });

  it.each(scenarios)("$name claims clauses of the document only", ({ claims }) => {
    expect(claims.filter((claim) => !Object.hasOwn(clauses, claim))).toEqual([]);
    expect(claims.length).toBeGreaterThan(0);
  });

  it.each(scenarios)("$name names engines that can send it", (scenario) => {
    const flows = scenario.flows(referenceTiers.pro);
    expect(scenario.engines.filter((engine) => unsupportedReason(engine, flows) !== null)).toEqual([]);
  });

  it.each(instances)("$name on $tier plans flows with names of their own and whole amounts", ({ scenario, limits }) => {
    const flows = scenario.flows(limits);
    expect(new Set(flows.map(({ name }) => name)).size).toBe(flows.length);
    expect(flows.filter(({ name }) => !/^[a-z][a-z0-9-]*$/.test(name))).toEqual([]);
    expect(
      flows.map(requestCount).filter((count) => count !== null && !(Number.isInteger(count) && count > 0)),
    ).toEqual([]);
    expect(Math.min(...flows.map(({ afterSeconds }) => afterSeconds))).toBeLessThan(1);
  });

  it.each(instances)("$name on $tier says what it needs", ({ scenario, limits }) => {
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

describe("a flow in the time of a faster clock", () => {
  it.each([
    [{ kind: "closed", atOnce: 2, seconds: 60 } as const, { kind: "closed", atOnce: 2, seconds: 2 }],
    [{ kind: "paced", perSecond: 1.5, seconds: 60 } as const, { kind: "paced", perSecond: 45, seconds: 2 }],
    [{ kind: "in turn", requests: 7 } as const, { kind: "in turn", requests: 7 }],
  ])("keeps its amounts and shortens its times: %o", (shape, expected) => {
    const planned = flow("one", invoke, shape, { afterSeconds: 30, leaveAfterMs: 3000 });
    expect(atSpeed(planned, 30)).toEqual({ ...planned, afterSeconds: 1, leaveAfterMs: 100, shape: expected });
    expect(requestCount(atSpeed(planned, 30))).toBe(requestCount(planned));
  });
});
